// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Whichever process of a job is killed, the others end and nothing is left.
func TestKilled(t *testing.T) {
	program := fixture(t, "misuse")
	for _, victims := range []string{"mpiexec", "proxy", "ranks", "mpiexec proxy"} {
		t.Run(victims, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := start(t, nil, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program, "wait_for_ever")
			ranks := job.rank(t, program)
			pids := map[string]int{"mpiexec": job.Process.Pid, "proxy": parent(ranks), "ranks": ranks}
			require.Equal(t, pids["mpiexec"], parent(pids["proxy"]))
			// Stopped first, so that none of them sees the others die.
			for _, signal := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} {
				for _, victim := range strings.Fields(victims) {
					require.NoError(t, unix.Kill(pids[victim], signal))
				}
			}
			require.Eventually(t, func() bool { return len(job.processes()) == 0 }, soon, 20*time.Millisecond, "processes of the job are left")
		})
	}
}
