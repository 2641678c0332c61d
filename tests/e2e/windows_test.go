// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const windowsByMemory = "TPSL_WINDOWS=memory"

// One-sided operations find in windows what they shall find, and wrong ones have the errors of flat MPI: in one process, where MPI_Put and
// MPI_Get go by load and store, and in several, where they go by the library.
func TestWindows(t *testing.T) {
	testsupport.NothingLeft(t)
	processes, threads, want := flat(t, "testdata/windows.c"), fixture(t, "windows"), map[string][]string{}
	for _, ranks := range []string{"2", "3", "4"} { // what they print does not depend on the number of rounds
		reference := hydra(t, oneThread, "-n "+ranks+" -genv LD_PRELOAD "+built(t, "lib/tpsl/libtpslyield.so"), processes, "0", "3")
		want[ranks] = inOrder(reference.succeeded(t).stdout)
	}
	for seed, c := range []struct {
		ranks, sets string
		env         []string
	}{
		{"2", "2", nil}, {"3", "3", nil}, {"4", "4", nil}, {"4", "2", nil},
		{"2", "2", []string{"TPSL_PROGRESS=neighbours"}}, {"2", "2", []string{"TPSL_COLLECTIVES=memory"}}, {"2", "2", []string{"TPSL_CHECK=1"}},
	} {
		got := mpiexec(t, append(c.env, windowsByMemory), "-n "+c.ranks+" -rpp "+c.sets, threads, strconv.Itoa(seed), "100").succeeded(t)
		assert.Equal(t, want[c.ranks], inOrder(got.stdout), "%v, seed %d", c, seed)
	}
	assert.Equal(t, "tpsl: TPSL_WINDOWS=fast: want library or memory\n",
		strings.Split(mpiexec(t, []string{"TPSL_WINDOWS=fast"}, "-n 1", example(t, "hello")).stderr, "mpiexec")[0])
}

// A rank that computes is not waited for.
func TestWindowsOfComputingRank(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "windows")
	const created, allocated, shared, dynamic = "window that was created, rank that computes: ", "window that was allocated, rank that computes: ",
		"window that was shared, rank that computes: ", "window that was dynamic, rank that computes: "
	const end = "rank 0 of 2: all right\nrank 1 of 2: all right\n"
	byMemory := mpiexec(t, []string{windowsByMemory}, "-n 2 -rpp 2", program, "1", "0").succeeded(t)
	assert.Equal(t, inOrder(created+"at once\n"+allocated+"at once\n"+shared+"at once\n"+dynamic+"later\n"+end), inOrder(byMemory.stdout))
	byLibrary := mpiexec(t, nil, "-n 2 -rpp 2", program, "1", "0").succeeded(t)
	assert.Equal(t, inOrder(created+"later\n"+allocated+"later\n"+shared+"later\n"+dynamic+"later\n"+end), inOrder(byLibrary.stdout))
}
