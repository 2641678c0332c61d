// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy"
)

// counting is the environment variable that makes this test program a process that writes a line for each signal. A shell that
// waits for input cannot be used, because a signal may come between its check for signals and its wait.
const counting = "TPSL_TEST_COUNTING"

func count() {
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTERM)
	fmt.Println("ready")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test
		os.Exit(1)
	}()
	for s := range signals {
		switch s {
		case unix.SIGUSR1:
			fmt.Println("usr1")
		case unix.SIGUSR2:
			fmt.Println("usr2")
		case unix.SIGTERM:
			os.Exit(0)
		}
	}
}

// counter starts a process that writes a line for each signal.
func counter(t *testing.T) (pid int, lines *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), counting+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_, err = cmd.StdinPipe() // its end is the process's, if the test should be killed
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines = bufio.NewReader(out)
	expect(t, lines, "ready")
	return cmd.Process.Pid, lines
}

func expect(t *testing.T, lines *bufio.Reader, want string) {
	t.Helper()
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, want+"\n", line)
}

// If the launcher signals all ranks, the process that they share gets one signal.
func TestRounds(t *testing.T) {
	pid, lines := counter(t)
	s := newSet(nil)
	s.process = proxy.SetProcess{PID: pid}
	age := func(sig unix.Signal, by time.Duration) {
		r := s.recent[sig]
		r.since = time.Now().Add(-by)
		s.recent[sig] = r
	}
	s.signalled(0, unix.SIGUSR1)
	expect(t, lines, "usr1")
	age(unix.SIGUSR1, -time.Hour) // however long this takes
	for rank := range 3 {
		s.signalled(rank+1, unix.SIGUSR1)
	}
	s.signalled(2, unix.SIGUSR2)
	expect(t, lines, "usr2")
	s.signalled(0, unix.SIGUSR1) // to the same rank again
	expect(t, lines, "usr1")
	age(unix.SIGUSR2, 2*procs.Broadcast)
	s.signalled(3, unix.SIGUSR2) // much later
	expect(t, lines, "usr2")
	s.signalled(1, unix.SIGTERM)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	assert.Empty(t, rest)
}

// A signal to a rank that is a process of its own reaches only that rank, even if it comes before the rank has started.
func TestSignalToOneRank(t *testing.T) {
	zero, ofZero := counter(t)
	one, ofOne := counter(t)
	s := newSet(nil)
	s.process = proxy.SetProcess{PID: -1, Private: true}
	s.rankStarted(0, zero)
	s.signalled(1, unix.SIGUSR1)
	s.signalled(0, unix.SIGUSR2)
	expect(t, ofZero, "usr2")
	s.rankStarted(1, one)
	expect(t, ofOne, "usr1")
	for rank := range 2 {
		s.signalled(rank, unix.SIGTERM)
	}
	for _, lines := range []*bufio.Reader{ofZero, ofOne} {
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		assert.Empty(t, rest)
	}
}
