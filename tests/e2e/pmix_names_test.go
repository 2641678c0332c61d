// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A client of PMI-1, written in bash, spawns an Open MPI program, whose names are in the same place as its own.
const namesOfPMI = `
say() { printf '%s\n' "$@" >&$PMI_FD; read -r -u $PMI_FD reply; }
say "cmd=init pmi_version=1 pmi_subversion=1"
say "cmd=publish_name service=of-PMI port=port-of-PMI"
say mcmd=spawn nprocs=1 "execname=$0" totspawns=1 spawnssofar=1 argcnt=0 preput_num=0 info_num=0 endcmd
echo "$reply"
until say "cmd=lookup_name service=of-PMIx"; [[ $reply = *rc=0* ]]; do sleep 0.05; done
echo "$reply"
say "cmd=finalize"`

func TestPMIxNames(t *testing.T) {
	program := testsupport.CC(t, "mpicc.openmpi", "testdata/ompinames.c")
	o := pmixJob(t, "-n 1", "bash", "-c", namesOfPMI, program).succeeded(t)
	assert.Equal(t, []string{
		"cmd=lookup_result port=port-of-PMIx info=ok rc=0 msg=success\n",
		"cmd=spawn_result rc=0\n",
		"of-PMI: port-of-PMI\n",
	}, o.lines())
}
