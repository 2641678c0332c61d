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

// patience is how long what comes by itself may take.
const patience = 30 * time.Second

// begin starts a script, and returns when that has printed a line.
func begin(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd
}

// Sweep ends children, their children, and those that hide in sessions of their own.
func TestSweep(t *testing.T) {
	require.NoError(t, SetSubreaper())
	cmd := begin(t, "sleep 60 & setsid sh -c 'sleep 60 & echo ready; sleep 60' & wait")
	require.Eventually(t, func() bool { return len(descendants(os.Getpid())) >= 5 }, patience, time.Millisecond)

	before := descendants(os.Getpid())
	ended := map[int]unix.WaitStatus{}
	reap := func() bool { return Reap(func(pid int, status unix.WaitStatus) { ended[pid] = status }) }
	assert.True(t, Sweep(reap, patience))
	assert.Equal(t, unix.SIGKILL, ended[cmd.Process.Pid].Signal())
	assert.Greater(t, len(ended), 1, "grandchildren come to the subreaper, but one that dies in its parent's wait call")
	for _, pid := range before {
		assert.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH, "process %d", pid)
	}
	assert.Empty(t, descendants(os.Getpid()))
}

// Sweep leaves alone what this process had started before it became subreaper, and ends when only that is left.
func TestSweepSparesStrangers(t *testing.T) {
	stranger := begin(t, "sleep 60 & echo ready; wait")
	require.NoError(t, SetSubreaper())
	defer clear(strangers)

	own := exec.Command("sleep", "60")
	require.NoError(t, own.Start())
	ended := map[int]unix.WaitStatus{}
	assert.True(t, Sweep(func() bool { return Reap(func(pid int, status unix.WaitStatus) { ended[pid] = status }) }, patience))
	assert.Equal(t, unix.SIGKILL, ended[own.Process.Pid].Signal())
	assert.Len(t, ended, 1)
	clear(strangers)
	below := descendants(os.Getpid())
	assert.Len(t, below, 2, "the stranger, and its child")
	for _, pid := range below {
		assert.NoError(t, unix.Kill(pid, unix.SIGKILL))
	}
	_ = stranger.Wait()
}

// The killed have their time also where this process stands still for longer than the limit.
func TestSweepStandsStill(t *testing.T) {
	require.NoError(t, SetSubreaper())
	own := exec.Command("sleep", "60")
	require.NoError(t, own.Start())
	const limit = 20 * time.Millisecond
	looks := 0
	reap := func() bool {
		switch looks++; looks {
		case 1:
			time.Sleep(2 * limit)
			return true
		case 2:
			assert.NoError(t, unix.Waitid(unix.P_PID, own.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), "it was killed")
			return true
		}
		return Reap(func(int, unix.WaitStatus) {})
	}
	assert.True(t, Sweep(reap, limit))
	assert.Equal(t, 3, looks)
}

// SweepSparing leaves alone for a while what is to end by itself, and all below it.
func TestSweepSparing(t *testing.T) {
	require.NoError(t, SetSubreaper())
	for _, ends := range []bool{true, false} {
		spared := exec.Command("sh", "-c", "sh -c 'read nothing; exit 3'; exit $?")
		in, err := spared.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, spared.Start())
		require.Eventually(t, func() bool { return len(descendants(spared.Process.Pid)) == 1 }, patience, time.Millisecond)
		own := exec.Command("sleep", "60")
		require.NoError(t, own.Start())
		ended := map[int]unix.WaitStatus{}
		reap := func() bool {
			left := Reap(func(pid int, status unix.WaitStatus) { ended[pid] = status })
			if _, killed := ended[own.Process.Pid]; killed && ends {
				in.Close()
			}
			return left
		}
		isSpared := func(pid int) bool { return pid == spared.Process.Pid }
		if ends {
			assert.True(t, SweepSparing(reap, patience, isSpared))
			assert.Equal(t, 3, ended[spared.Process.Pid].ExitStatus())
		} else {
			SweepSparing(reap, 20*time.Millisecond, isSpared)
			assert.True(t, Sweep(reap, patience), "a slow machine takes longer to end what was killed")
			assert.Equal(t, unix.SIGKILL, ended[spared.Process.Pid].Signal())
			in.Close()
		}
		assert.Equal(t, unix.SIGKILL, ended[own.Process.Pid].Signal())
	}
}

// Only new files with an MPI library's name that nobody uses are removed. One user is a process that only another PID namespace has: it
// is not in our /proc.
func TestRemoveSharedMemory(t *testing.T) {
	// Where it can be, in a folder of its own: jobs of other tests remove what seems left, too.
	const inside = "TPSL_TEST_OWN_SHM"
	live := shmDir + "ucx_shm_posix_live"
	if os.Getenv(inside) == "" && exec.Command("unshare", "--mount", "true").Run() == nil {
		own := `mount -t tmpfs none /dev/shm && exec 3<>` + live + ` && unshare --pid --fork --mount-proc "$0" -test.run='^TestRemoveSharedMemory$' 3<&-`
		cmd := exec.Command("unshare", "--mount", "sh", "-c", own, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	create := func(pattern string) *os.File {
		f, err := os.CreateTemp(shmDir, pattern)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close(); os.Remove(f.Name()) })
		return f
	}
	old := create("ucx_shm_posix_*")
	time.Sleep(20 * time.Millisecond) // more than a tick
	began := Now()
	left, used, foreign := create("mpich_shar_tmp*"), create("mpich_shar_tmp*"), create("user_data*")
	openMPI, window, trial := create("sm_segment.*"), create("osc_rdma.*"), create("open_mpi.*")
	for _, f := range []*os.File{left, openMPI, window, trial, foreign, old} {
		require.NoError(t, f.Close())
	}
	link := shmDir + "ucx_shm_posix_link"
	require.NoError(t, os.Symlink(foreign.Name(), link))
	t.Cleanup(func() { os.Remove(link) })
	RemoveSharedMemory(began, nil)
	assert.NoFileExists(t, left.Name())
	assert.NoFileExists(t, openMPI.Name())
	assert.NoFileExists(t, window.Name())
	assert.NoFileExists(t, trial.Name())
	for _, name := range []string{used.Name(), foreign.Name(), old.Name(), link} {
		assert.FileExists(t, name)
	}
	if os.Getenv(inside) != "" {
		RemoveSharedMemory(time.Time{}, nil)
		assert.NoFileExists(t, old.Name())
		assert.FileExists(t, live)
	}
}
