// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A rank that ends the job as it has seen another one die is not the cause, whoever is heard of first. Here the abort, or the end
// without MPI_Finalize, comes at once; the death takes its way through the kernel and, on two hosts, another proxy.
func TestDeathBeforeItsConsequence(t *testing.T) {
	testsupport.NothingLeft(t)
	for name, consequence := range map[string]string{
		"abort": `echo cmd=abort exitcode=15 >&3; exec sleep 60`,
		"exit":  `echo cmd=init pmi_version=1 pmi_subversion=1 >&3; read reply <&3; exit 15`,
	} {
		for _, hosts := range []string{"a", "a,b"} {
			t.Run(name+" on "+hosts, func(t *testing.T) {
				for range 5 {
					script := `if [ $PMI_RANK = 1 ]; then echo $$ >$0.new; mv $0.new $0; exec sleep 60; fi
until read pid <$0; do sleep 0.01; done 2>/dev/null
kill -9 $pid
` + consequence
					j, code := runJob(t, "-launcher", "fork", "-hosts", hosts, "-n", "2", "sh", "-c", script, filepath.Join(t.TempDir(), "pid"))
					assert.Equal(t, 9, code, j.errOut.String())
					assert.Contains(t, j.errOut.String(), "mpiexec: rank 1 (")
					assert.NotContains(t, j.errOut.String(), "mpiexec: rank 0")
				}
			})
		}
	}
}
