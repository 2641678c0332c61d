// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A started process is what a launcher that only starts processes has of one.
type started struct {
	cmd    *exec.Cmd
	stdout *os.File
	stderr bytes.Buffer
}

// startRanks is a launcher that never ends a job: what members of a set do of themselves shows.
func startRanks(t *testing.T, n int, program ...string) (ranks []*started) {
	t.Helper()
	for rank := range n {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = unix.Close(fds[1]) })
		session := os.NewFile(uintptr(fds[0]), "session")
		out, in, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { out.Close() })
		r := &started{cmd: exec.Command(program[0], program[1:]...), stdout: out}
		r.cmd.ExtraFiles = []*os.File{session}
		r.cmd.Stdout, r.cmd.Stderr = in, &r.stderr
		r.cmd.WaitDelay = limit
		r.cmd.Env = append(os.Environ(), "PMI_FD=3", "PMI_RANK="+strconv.Itoa(rank), "PMI_SIZE="+strconv.Itoa(n),
			"MPI_LOCALNRANKS="+strconv.Itoa(n), "MPI_LOCALRANKID="+strconv.Itoa(rank))
		require.NoError(t, r.cmd.Start())
		session.Close()
		in.Close()
		t.Cleanup(func() { _ = r.cmd.Process.Kill() })
		ranks = append(ranks, r)
	}
	return ranks
}

// says waits for a rank's next words.
func (r *started) says(t *testing.T, want string) {
	t.Helper()
	require.NoError(t, r.stdout.SetReadDeadline(time.Now().Add(limit)))
	said := make([]byte, 100)
	n, err := r.stdout.Read(said)
	require.NoError(t, err, "%s", r.stderr.String())
	assert.Equal(t, want, string(said[:n]))
}

// ended waits for the end of what was started for a rank.
func (r *started) ended(t *testing.T) syscall.WaitStatus {
	t.Helper()
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// The death of one process that a launcher has started ends the others of its set, and what they ran, with a line that
// names the rank. Signals to one are its rank's.
func TestForeignDeaths(t *testing.T) {
	testsupport.NothingLeft(t)
	start := func(n int) []*started {
		ranks := startRanks(t, n, shared(t, fmt.Sprintf("-rpp %d -tpsl private", n), "/bin/bash", "-c", "trap 'echo caught' USR1; echo rank $PMI_RANK; while :; do sleep 0.1; done")...)
		for rank, r := range ranks {
			r.says(t, fmt.Sprintf("rank %d\n", rank))
		}
		return ranks
	}

	ranks := start(2) // a donor
	require.NoError(t, ranks[1].cmd.Process.Signal(unix.SIGUSR1))
	ranks[1].says(t, "caught\n")
	require.NoError(t, ranks[1].cmd.Process.Kill())
	ranks[1].ended(t)
	assert.Equal(t, unix.SIGKILL, ranks[0].ended(t).Signal())
	assert.Equal(t, "tpsl run: rank 0: what the launcher started for rank 1 was killed, so the process of ranks 0,1 was ended\n", ranks[0].stderr.String())

	ranks = start(3) // a donor, and another one with it
	require.NoError(t, ranks[2].cmd.Process.Kill())
	ranks[2].ended(t)
	assert.Equal(t, unix.SIGKILL, ranks[0].ended(t).Signal())
	assert.Equal(t, unix.SIGKILL, ranks[1].ended(t).Signal())
	assert.Empty(t, ranks[1].stderr.String())

	ranks = start(2) // the leader
	require.NoError(t, ranks[0].cmd.Process.Kill())
	ranks[0].ended(t)
	assert.Equal(t, unix.SIGKILL, ranks[1].ended(t).Signal())
	assert.Equal(t, "tpsl run: rank 1: what the launcher started for rank 0 was killed, and with it the process of ranks 0,1\n", ranks[1].stderr.String())

	for took, try := procs.Broadcast, 0; took >= procs.Broadcast; try++ { // all, one after the other, as a launcher does that ends the job
		require.Less(t, try, 10, "this process is slower than a launcher may be")
		ranks = start(2)
		began := time.Now()
		require.NoError(t, ranks[0].cmd.Process.Kill())
		time.Sleep(procs.Broadcast / 5) // so slow is a launcher under load
		require.NoError(t, ranks[1].cmd.Process.Kill())
		took = time.Since(began)
		for _, r := range ranks {
			assert.Equal(t, unix.SIGKILL, r.ended(t).Signal())
			assert.True(t, took >= procs.Broadcast || r.stderr.Len() == 0, r.stderr.String())
		}
	}

	ranks = start(2) // a rank: the others end like it
	began := time.Now()
	require.NoError(t, ranks[1].cmd.Process.Signal(unix.SIGTERM))
	for _, r := range ranks {
		assert.Equal(t, unix.SIGTERM, r.ended(t).Signal())
		assert.Empty(t, withoutHostEndsSet(began, r.stderr.String()))
	}

	// all ranks at once, as launchers do; in shared mode one process gets it once
	ranks = startRanks(t, 2, shared(t, "-rpp 2 -tpsl shared", "/bin/bash", "-c", "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.1; done")...)
	ranks[0].says(t, "ready\n")
	for _, r := range ranks {
		require.NoError(t, r.cmd.Process.Signal(unix.SIGTERM))
	}
	for _, r := range ranks {
		assert.Equal(t, 5, r.ended(t).ExitStatus())
	}
	ranks[0].says(t, "caught\n")
}
