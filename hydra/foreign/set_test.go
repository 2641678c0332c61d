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

	"github.com/tpsl/tpsl/hydra/control"
)

// Ranks that are killed because another one has crashed get the status of that one. A rank that had ended before keeps its own
// status.
func TestRanksEndAsTheCrashed(t *testing.T) {
	process := exec.Command("sleep", "60")
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, process.Start())
	s := newSet([]*part{{donation: donation{Rank: 0}}, {donation: donation{Rank: 1}}, {donation: donation{Rank: 2}}, {donation: donation{Rank: 3}}})
	s.process.PID = process.Process.Pid
	for _, end := range []control.Event{{Rank: 3, PID: 13, Status: 256}, {Rank: 1, PID: 11, Status: 11}, {Rank: 0, PID: 10, Status: 9}, {Rank: 2, PID: 12, Status: 9}} {
		end.Kind = control.Exited
		s.heard(end)
	}
	require.Error(t, process.Wait())
	assert.Equal(t, unix.SIGKILL, process.ProcessState.Sys().(syscall.WaitStatus).Signal())
	s.status = s.crash
	own, err := s.finish()
	require.NoError(t, err)
	assert.Equal(t, unix.SIGSEGV, own.Signal())
	assert.Equal(t, map[int]unix.WaitStatus{0: 11, 1: 11, 2: 11, 3: 256}, s.ends)
}
