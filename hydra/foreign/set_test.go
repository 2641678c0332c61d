// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The ranks that are killed as another one has crashed end like it; one that had its own end keeps that.
func TestRanksEndAsTheCrashed(t *testing.T) {
	process := exec.Command("sleep", "60")
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, process.Start())
	s := newSet([]*part{{donation: donation{Rank: 0}}, {donation: donation{Rank: 1}}, {donation: donation{Rank: 2}}, {donation: donation{Rank: 3}}})
	s.lone.PID = process.Process.Pid
	for _, line := range []string{"exit rank=3 pid=13 status=256", "exit rank=1 pid=11 status=11", "exit rank=0 pid=10 status=9", "exit rank=2 pid=12 status=9"} {
		s.heard(line)
	}
	require.Error(t, process.Wait())
	assert.Equal(t, unix.SIGKILL, process.ProcessState.Sys().(syscall.WaitStatus).Signal())
	s.status = s.crash
	own, err := s.finish()
	require.NoError(t, err)
	assert.Equal(t, unix.SIGSEGV, own.Signal())
	assert.Equal(t, map[int]unix.WaitStatus{0: 11, 1: 11, 2: 11, 3: 256}, s.ends)
}
