// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Each rank's thread runs where the launcher says, in a new thread of its slot too; a
// place that the program chose is left alone.
func TestPinning(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	for _, c := range []struct{ name, places, want string }{
		{"", "0,1,1,1", "0111"}, {"early", "0,1,1,1", "0111"}, {"own", "0,0,0,0", "1111"},
	} {
		t.Run("program "+c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := run(t, nil, append([]string{built(t, "bin/mpiexec"), "-n", "4", "-rpp", "4", "-bind-to", "user:" + c.places, fixture(t, "pin")}, strings.Fields(c.name)...)...)
			job.succeeded(t)
			for rank, cpu := range c.want {
				for _, when := range []string{"first", "again"} {
					assert.Contains(t, job.stdout, fmt.Sprintf("%s rank %d: %c\n", when, rank, cpu))
				}
			}
		})
	}
}

// The runtime's descriptors are told from files that got their numbers later.
func TestReopenedDescriptors(t *testing.T) {
	for _, options := range []string{"-n 1", "-n 2 -rpp 2"} {
		t.Run(options, func(t *testing.T) {
			testsupport.NothingLeft(t)
			file := filepath.Join(t.TempDir(), "data")
			env := []string{}
			if options == "-n 1" {
				env = append(env, "OMP_NUM_THREADS=1")
			}
			argv := append(append([]string{built(t, "bin/mpiexec")}, strings.Fields(options)...), fixture(t, "reopen"), file)
			job := run(t, env, argv...)
			assert.Equal(t, 1, job.code)
			assert.Contains(t, job.stderr, "called MPI_Finalize before")
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Empty(t, string(data))
		})
	}
}

func TestWantedSlot(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "wanted")).succeeded(t)
	assert.Equal(t, "wanted: 0 wrong\n", job.stdout)
}

// The default action, set with SA_SIGINFO, is no function to call.
func TestCrashUnderDefaultWithFlags(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "misuse"), "crash_under_flags")
	assert.Equal(t, 11, job.code)
	assert.Contains(t, job.stderr, "the fault was in rank 1")
}

// A launcher that does not tell how many ranks the host has: the library must see what the
// kernel refuses to the other process.
func TestRefusedWithoutLocalRanks(t *testing.T) {
	testsupport.NothingLeft(t)
	env := append([]string{"OMP_NUM_THREADS=1"}, shmOnly...)
	argv := append(kernels(t)["refused"], built(t, "bin/mpiexec"), "-n", "2", "env", "-u", "MPI_LOCALNRANKS", "-u", "MPI_LOCALRANKID", fixture(t, "large"))
	job := run(t, env, argv...).succeeded(t)
	assert.Equal(t, []string{"large: rank 0 of 2, 0 wrong\n", "large: rank 1 of 2, 0 wrong\n"}, job.lines())
}
