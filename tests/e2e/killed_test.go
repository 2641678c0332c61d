// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Whichever process of a job is killed, the others end and nothing is left.
func TestKilled(t *testing.T) {
	program := fixture(t, "misuse")
	for _, victim := range []string{"mpiexec", "proxy", "ranks"} {
		t.Run(victim, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := start(t, nil, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program, "wait_for_ever")
			ranks := job.rank(t, program)
			pids := map[string]int{"mpiexec": job.Process.Pid, "proxy": parent(ranks), "ranks": ranks}
			require.Equal(t, pids["mpiexec"], parent(pids["proxy"]))
			require.NoError(t, unix.Kill(pids[victim], unix.SIGKILL))
			require.Eventually(t, func() bool { return len(job.processes()) == 0 }, 10*time.Second, 20*time.Millisecond, "processes of the job are left")
		})
	}
}
