// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// engineProgram compiles a program on the message engine.
func engineProgram(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	cmd := exec.Command("go", "build", "-o", program, folder)
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
		programs[name] = engineProgram(t, "../../examples/engine/"+name)
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

// Active messages and one-sided operations give the right answers in jobs: in one process, in several of one host, and on two hosts
// whose processes take turns.
func TestEngineAccesses(t *testing.T) {
	testsupport.NothingLeft(t)
	program := engineProgram(t, "./testdata/accesses")
	hosts := testsupport.Hosts(t, "a", "b")
	for _, model := range []string{"private", "global", "offload"} {
		words := []string{program, "-ports", "2", "-model", model}
		t.Run("one process/"+model, func(t *testing.T) {
			assert.Equal(t, "2 ranks: every answer is right\n", run(t, nil, words...).succeeded(t).stdout)
		})
		t.Run("one host/"+model, func(t *testing.T) {
			assert.Equal(t, "6 ranks: every answer is right\n", mpiexec(t, nil, "-n 3", words...).succeeded(t).stdout)
		})
		t.Run("two hosts/"+model, func(t *testing.T) {
			assert.Equal(t, "8 ranks: every answer is right\n", from(t, hosts, "-hosts a,b -ppn 1 -n 4", words...).succeeded(t).stdout)
		})
	}
}

// A process that is killed is named by the launcher, which ends the others. Where those go on, each operation names
// the rank, and all others still give the right answers.
func TestEngineAccessesKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	program := engineProgram(t, "./testdata/accesses")
	hosts := testsupport.Hosts(t, "a", "b")
	for name, start := range map[string]func(t *testing.T, options string, program ...string) outcome{
		"one host": func(t *testing.T, options string, program ...string) outcome {
			return mpiexec(t, nil, options+" -n 3", program...)
		},
		"two hosts": func(t *testing.T, options string, program ...string) outcome {
			return from(t, hosts, options+" -hosts a,b -ppn 1 -n 3", program...)
		},
	} {
		for _, model := range []string{"private", "global"} {
			t.Run(name+"/"+model, func(t *testing.T) {
				words := []string{program, "-ports", "2", "-model", model, "-kill"}
				out := start(t, "", words...)
				assert.Equal(t, 9, out.code, out.stderr)
				assert.Contains(t, out.stderr, "mpiexec: rank 2 (")
				out = start(t, "-disable-auto-cleanup", words...)
				assert.Contains(t, out.stderr, "mpiexec: rank 2 (")
				assert.Equal(t, "rank 4 is gone, as all operations say\n4 ranks: every answer is right\n", out.stdout, out.stderr)
			})
		}
	}
}

// Job.Close may be called while threads are in calls, which end. A job that cannot start, or not again, says why, and hangs nobody.
func TestEngineEnds(t *testing.T) {
	testsupport.NothingLeft(t)
	program := engineProgram(t, "./testdata/ends")
	hosts := testsupport.Hosts(t, "a", "b")
	for range 10 {
		assert.Equal(t, strings.Repeat("closed\n", 4), mpiexec(t, nil, "-n 4", program, "waiting").succeeded(t).stdout)
		assert.Equal(t, strings.Repeat("closed\n", 4), from(t, hosts, "-hosts a,b -ppn 1 -n 4", program, "waiting").succeeded(t).stdout)
	}
	const once = "start a job: this process has started its launcher's job already: that can be done once\n"
	assert.Equal(t, once+once, mpiexec(t, nil, "-n 2", program, "again", t.TempDir()).succeeded(t).stdout)
	out := mpiexec(t, nil, "-n 2", program, "refused")
	assert.Equal(t, 3, out.code)
	assert.Contains(t, out.stderr, "start a job: fabric: inbox: ring of 3 cells: take a power of two from 2 to 16777216\n")
	assert.Contains(t, out.stderr, "mpiexec: rank 1 (")
	out = mpiexec(t, nil, "-n 2", program, "late")
	assert.Equal(t, 3, out.code)
	assert.Contains(t, out.stderr, "start a job: context deadline exceeded: ")
	assert.NotContains(t, out.stderr, "no error of the context")
	out = mpiexec(t, nil, "-n 2", program, "wide")
	assert.Equal(t, 3, out.code)
	assert.Contains(t, out.stderr, "start a job: process 0 has 5000 ports: it can have 4096, as there are other processes on its host\n")
}

// A process of a job may have too few descriptors for any step of its start. All processes end at once, and
// it is told why.
func TestEngineStartsWithFewFiles(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Build(t) // its time is no job's
	program := engineProgram(t, "./testdata/ends")
	const most = 64
	for rank := range 2 { // the first one of a host lets the others in
		refused, files := 0, 8
		for ; files <= most; files++ {
			limited := fmt.Sprintf(`[ $PMI_RANK = %d ] || exec "$0" once; ulimit -n %d; exec "$0" once`, rank, files)
			began := time.Now()
			out := mpiexec(t, nil, "-n 3 sh -c", limited, program)
			assert.Less(t, time.Since(began), 10*time.Second, "rank %d, %d files", rank, files)
			if out.code == 0 {
				break
			}
			refused++
			assert.Contains(t, out.stderr, "too many open files", "rank %d, %d files", rank, files)
		}
		assert.Greater(t, refused, 5)
		assert.Less(t, files, most)
	}
}
