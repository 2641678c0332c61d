// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Sweep ends children, their children, and those that hide in sessions of their own.
func TestSweep(t *testing.T) {
	require.NoError(t, SetSubreaper())
	cmd := exec.Command("sh", "-c", "sleep 60 & setsid sh -c 'sleep 60 & echo ready; sleep 60' & wait")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(descendants(os.Getpid())), 5)

	ended := map[int]unix.WaitStatus{}
	reap := func() bool { return Reap(func(pid int, status unix.WaitStatus) { ended[pid] = status }) }
	assert.True(t, Sweep(reap, 5*time.Second))
	assert.Equal(t, unix.SIGKILL, ended[cmd.Process.Pid].Signal())
	assert.GreaterOrEqual(t, len(ended), 5)
	assert.Empty(t, descendants(os.Getpid()))
}

// Only new files with an MPI library's name that nobody uses are removed.
func TestRemoveSharedMemory(t *testing.T) {
	began := time.Now().Add(-time.Second)
	create := func(pattern string) *os.File {
		f, err := os.CreateTemp(shmDir, pattern)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close(); os.Remove(f.Name()) })
		return f
	}
	left, used, foreign, old := create("mpich_shar_tmp*"), create("mpich_shar_tmp*"), create("user_data*"), create("ucx_shm_posix_*")
	for _, f := range []*os.File{left, foreign, old} {
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.Chtimes(old.Name(), began, began.Add(-time.Hour)))
	RemoveSharedMemory(began)
	assert.NoFileExists(t, left.Name())
	for _, f := range []*os.File{used, foreign, old} {
		assert.FileExists(t, f.Name())
	}
}
