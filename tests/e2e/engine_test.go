// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// engineExamples are applications on the message engine, and what they say when their answer is right.
var engineExamples = []struct{ command, says string }{
	{"dt -threads 1 -graph SH -class W", "4 threads, sum 186944764: as published"},
	{"dt -threads 1 -graph BH", "4 threads, sum 30892725: as published"},
	{"uts -threads 1 -tree T1", "4130071 nodes, 3305118 leaves, depth 10: as published"},
	{"uts -threads 1 -tree T1-small", "63914 nodes, 51124 leaves, depth 7: as serial"},
	{"bfs -threads 1 -scale 11 -roots 4", "4 trees, of "},
	{"sweep -threads 1", "on 2x2 ports: the flux is that of one thread, bit for bit"},
	{"uts -threads 2 -model global -servers -tree T1-small", "63914 nodes, 51124 leaves, depth 7: as serial"},
	{"bfs -threads 2 -form hybrid -model global -scale 10 -roots 2", "2 trees, of "},
	{"sweep -threads 2 -mates 2 -model lockq", "on 2x4 ports: the flux is that of one thread, bit for bit"},
}

// engineApplication compiles an application of examples/engine.
func engineApplication(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", program, "../../examples/engine/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	return program
}

// The applications give the right answer as jobs of several processes: of one host, where processes share memory,
// and of two, whose ranks take turns, so that no host's ranks are contiguous.
func TestEngineJobs(t *testing.T) {
	testsupport.NothingLeft(t)
	programs := map[string]string{}
	for _, name := range []string{"dt", "uts", "bfs", "sweep"} {
		programs[name] = engineApplication(t, name)
	}
	hosts := testsupport.Hosts(t, "a", "b")
	for _, e := range engineExamples {
		words := strings.Fields(e.command)
		words[0] = programs[words[0]]
		t.Run("one host/"+e.command, func(t *testing.T) {
			out := mpiexec(t, nil, "-n 4", words...).succeeded(t)
			assert.Contains(t, out.stdout, e.says)
			assert.Equal(t, 1, strings.Count(out.stdout, e.says), "rank 0 says it alone")
		})
		t.Run("two hosts/"+e.command, func(t *testing.T) {
			out := from(t, hosts, "-hosts a,b -ppn 1 -n 4", words...).succeeded(t)
			assert.Contains(t, out.stdout, e.says)
		})
	}
}
