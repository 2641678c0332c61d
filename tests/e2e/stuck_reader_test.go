// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// mpiexec waits for who reads its output, but not against the will of who tells it again to end.
func TestStuckReader(t *testing.T) {
	testsupport.NothingLeft(t)
	written := filepath.Join(t.TempDir(), "written") // more than a pipe holds
	job := start(t, nil, built(t, "bin/mpiexec"), "-n", "1", "sh", "-c", "echo ready; yes | head -c 3000000; >"+written+"; exec sleep 60")
	require.Eventually(t, func() bool { _, err := os.Stat(written); return err == nil }, 20*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		_ = unix.Kill(job.Process.Pid, unix.SIGTERM)
		return len(job.processes()) == 0
	}, 20*time.Second, 200*time.Millisecond, "mpiexec waits for its reader")
	require.Error(t, job.Wait())
	require.Equal(t, int(unix.SIGTERM), job.ProcessState.ExitCode())
}
