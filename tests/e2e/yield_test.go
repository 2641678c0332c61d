// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A rank gives way only while it waits: not when rounds find something, nor when it computes
// between them. A round that takes long because the rank has just slept does not end its wait. In a call that only looks, as MPI_Iprobe,
// it sleeps for a short time at most. Where several threads call MPI, none sleeps inside.
func TestYieldRounds(t *testing.T) {
	behind := testsupport.CC(t, "gcc", "testdata/rounds.c", "-DUCX", "-shared", "-fPIC")
	program := testsupport.CC(t, "gcc", "testdata/rounds.c", "-rdynamic", "-pthread", "-Wl,--no-as-needed", built(t, "lib/tpsl/libtpslyield.so"), behind)
	job := run(t, []string{"LD_LIBRARY_PATH=" + built(t, "lib/tpsl")}, program).succeeded(t)
	assert.Equal(t, `something found: no yield, no sleep
something found each fourth time: no yield, no sleep
nothing found, now and then: no yield, no sleep
nothing found: yields, no sleep
nothing found for long: yields, sleeps
nothing found, now and then after that: 0 sleeps
nothing found for long, slow rounds after sleeps: one wait
a wait of 2 s: no sleep longer than 16000 us
looks for 2 s: no sleep longer than 200 us
a wait of 2 s after that: no sleep longer than 16000 us
nothing found by another thread: yields, no sleep
`, job.stdout)
}

// UCX asks for each endpoint when the peer's process was created. It is told from memory about the rank's own process, always,
// and about another one, for a short time.
func TestYieldRemembersProcesses(t *testing.T) {
	behind := testsupport.CC(t, "gcc", "testdata/asked.c", "-DUCX", "-shared", "-fPIC")
	program := testsupport.CC(t, "gcc", "testdata/asked.c", "-rdynamic", "-Wl,--no-as-needed", built(t, "lib/tpsl/libtpslyield.so"), behind)
	job := run(t, []string{"LD_LIBRARY_PATH=" + built(t, "lib/tpsl")}, program).succeeded(t)
	assert.Equal(t, `itself: asked 1 times of 5, 0 wrong
another, soon: asked 1 times of 5, 0 wrong
the next one, soon: asked 1 times of 5, 0 wrong
the one before, soon: asked 1 times of 5, 0 wrong
another, now and then: asked 5 times of 5, 0 wrong
one not known: asked 5 times of 5, 0 wrong
itself again: asked 0 times of 5, 0 wrong
a child of itself: asked 1 times of 5, 0 wrong
`, job.stdout)
}

// Ranks give way if they are more than their CPUs, or as TPSL_YIELD says, in both modes.
func TestYieldsBeyondTheCores(t *testing.T) {
	testsupport.NothingLeft(t)
	shared, private := fixture(t, "yields"), flat(t, "testdata/yields.c")
	for _, c := range []struct {
		name, word string
		cpus       int
		options    string
		want       string
	}{
		{"as many CPUs", "", 2, "-n 2 -rpp 2", "no"},
		{"more ranks", "auto", 1, "-n 2 -rpp 2", "yes"},
		{"more ranks in two processes", "", 1, "-n 2 -rpp 1 -tpsl shared", "yes"},
		{"bound to a CPU each", "", 2, "-n 2 -rpp 1 -bind-to core -tpsl shared", "no"},
		{"never", "never", 1, "-n 2 -rpp 2", "no"},
		{"always", "always", 2, "-n 2 -rpp 2", "yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := append([]string{"taskset", "-c", cpus(t, c.cpus), built(t, "bin/mpiexec")}, strings.Fields(c.options)...)
			env := []string{"TPSL_YIELD=" + c.word}
			assert.Equal(t, "sum 1, "+c.want+"\n", run(t, env, append(command, shared)...).succeeded(t).stdout)
			if strings.HasSuffix(c.options, "2") {
				env = append(env, "OMP_NUM_THREADS=1")
				assert.Equal(t, "sum 1, "+c.want+"\n", run(t, env, append(command, private)...).succeeded(t).stdout)
			}
		})
	}
	for _, program := range []string{shared, private} {
		job := mpiexec(t, []string{"TPSL_YIELD=often"}, "-n 2 -rpp 2", program)
		assert.NotZero(t, job.code)
		assert.Contains(t, job.stderr, `TPSL_YIELD="often": want auto, always or never`)
	}
}

// cpus lists the first CPUs that this process may use.
func cpus(t *testing.T, n int) string {
	t.Helper()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	var list []string
	for i := 0; len(list) < n; i++ {
		require.Less(t, i, 1024, "fewer than %d CPUs", n)
		if set.IsSet(i) {
			list = append(list, strconv.Itoa(i))
		}
	}
	return strings.Join(list, ",")
}
