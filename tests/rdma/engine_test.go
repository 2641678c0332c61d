// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// withVerbs builds something of this project with the tag verbs: arguments are those of go, in front of the package.
func withVerbs(t *testing.T, pkg string, arguments ...string) (binary string) {
	t.Helper()
	testsupport.Require(t, "gcc", "pkg-config")
	if _, _, code := testsupport.Run(t, limit, nil, "pkg-config", "--exists", "libibverbs", "ucx"); code != 0 {
		testsupport.Unable(t, "libibverbs-dev or libucx-dev is not installed")
	}
	binary = filepath.Join(t.TempDir(), filepath.Base(pkg))
	argv := append([]string{"go"}, arguments...)
	_, stderr, code := testsupport.Run(t, limit, nil, append(argv, "-tags", "verbs", "-o", binary, pkg)...)
	require.Zero(t, code, stderr)
	return binary
}

// overVerbs are the settings of jobs on the message engine that talk between hosts by the first device.
var overVerbs = []string{"TPSL_CARRIER=verbs", "TPSL_RDMA_PORT=rxe0:1"}

// engineExamples are applications on the message engine, and what they say when their answer is right.
var engineExamples = []struct{ command, says string }{
	{"dt -threads 1 -graph SH -class W", "4 threads, sum 186944764: as published"},
	{"dt -threads 1 -graph BH", "4 threads, sum 30892725: as published"},
	{"uts -threads 1 -tree T1", "4130071 nodes, 3305118 leaves, depth 10: as published"},
	{"bfs -threads 1 -scale 11 -roots 4", "4 trees, of "},
	{"sweep -threads 1", "on 2x2 ports: the flux is that of one thread, bit for bit"},
	{"bfs -threads 2 -form hybrid -model global -scale 10 -roots 2", "2 trees, of "},
}

// engineJob runs a job of two guests whose processes take turns, and returns how many packets of RDMA guest a has sent meanwhile.
func engineJob(t *testing.T, g *guest.Group, options string, program ...string) (r guest.Result, sent int) {
	t.Helper()
	before := packets(t, g)
	r = mpiexec(t, g, overVerbs, "-hosts a,b -ppn 1 "+options, program...)
	return r, packets(t, g)[0] - before[0]
}

// The applications on the message engine give the published answers as jobs of two hosts by verbs.
func TestEngineJobs(t *testing.T) {
	g := guests(t, 2)
	testsupport.NothingLeft(t)
	programs := map[string]string{}
	for _, name := range []string{"dt", "uts", "bfs", "sweep"} {
		programs[name] = withVerbs(t, "../../examples/engine/"+name, "build")
	}
	for _, e := range engineExamples {
		t.Run(e.command, func(t *testing.T) {
			words := strings.Fields(e.command)
			words[0] = programs[words[0]]
			r, sent := engineJob(t, g, "-n 4", words...)
			require.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
			assert.Equal(t, 1, strings.Count(r.Stdout, e.says), r.Stdout)
			assert.Greater(t, sent, 20, "packets of RDMA")
			t.Log(r.Stdout, sent)
		})
	}
}
