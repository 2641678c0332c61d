// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// trapping starts two ranks that say "ready" and then what signal they got.
func trapping(t *testing.T, signals, action string) *job {
	t.Helper()
	script := "for s in " + signals + "; do trap \"echo got $s; " + action + "\" $s; done; echo ready; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2 & wait $!; done"
	r, w := pipe(t)
	j := launchTo(t, nil, w, "mpiexec", "-n", "2", "sh", "-c", script)
	w.Close()
	j.reader = newCollector(r)
	j.reader.await(t, "ready\n", 2)
	return j
}

// Hydra dies of HUP and USR2 and swallows CONT and WINCH.
func TestSignalsAreForwarded(t *testing.T) {
	for _, name := range []string{"TERM", "QUIT", "USR1", "USR2", "ALRM", "HUP", "TSTP", "CONT", "WINCH"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := trapping(t, name, "exit 5")
			require.NoError(t, j.Process.Signal(unix.SignalNum("SIG"+name)))
			assert.Equal(t, 5, j.end(t), "the ranks' code is returned")
			j.reader.await(t, "got "+name+"\n", 2)
		})
	}
}

func TestInterruptOnce(t *testing.T) {
	j := trapping(t, "INT", "exit 0")
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Zero(t, j.end(t))
	assert.Contains(t, j.errOut.String(), "Sending Ctrl-C to processes as requested\nmpiexec: Press Ctrl-C again to force abort\n")
}

func TestInterruptTwice(t *testing.T) {
	j := trapping(t, "INT", ":")
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	j.reader.await(t, "got INT", 2)
	sent := time.Now()
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Equal(t, 255, j.end(t))
	assert.Less(t, time.Since(sent), 3*time.Second)
	assert.Contains(t, j.errOut.String(), "Ctrl-C caught... cleaning up processes")
}

func TestInterruptKills(t *testing.T) {
	j := launch(t, nil, "mpiexec", "-n", "2", "sleep", "60")
	j.awaitRanks(t, 2)
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Equal(t, 2, j.end(t))
	assert.Contains(t, j.errOut.String(), "EXIT STRING: Interrupt (signal 2)")
}
