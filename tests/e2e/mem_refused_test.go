// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pagetables"
)

// forAll copies a program to where every user can run it.
func forAll(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tpsl-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	path := filepath.Join(dir, filepath.Base(program))
	require.NoError(t, os.WriteFile(path, text, 0o755))
	return path
}

// What tpsl mem may not read, or is not there, is one line that says why, and exit status 1.
func TestMemRefuses(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "setpriv", "unshare")
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "other users are tried by root only")
	}
	job := resting(t, fixture(t, "rest"), 2, "-rpp", "2")
	all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
	require.Empty(t, errs)
	pid := all[0].PID
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	sleep := exec.Command("sleep", "60")
	require.NoError(t, sleep.Start())
	defer func() { _ = sleep.Process.Kill(); _ = sleep.Wait() }()

	tpsl := forAll(t, built(t, "bin/tpsl"))
	nobody := "setpriv --reuid=65534 --regid=65534 --clear-groups " + tpsl + " mem "
	for _, c := range []struct{ name, command, want string }{
		{"gone", fmt.Sprintf("%s mem %d", tpsl, gone.Process.Pid),
			fmt.Sprintf("process %d: there is no such process here: it has ended, or its number is that of another PID namespace", gone.Process.Pid)},
		{"no rank", fmt.Sprintf("%s mem %d", tpsl, sleep.Process.Pid),
			fmt.Sprintf("process %d (sleep): it is no MPI rank, and no process below it is: name the processes of ranks, or their mpiexec", sleep.Process.Pid)},
		{"another user's", nobody + fmt.Sprint(pid),
			fmt.Sprintf("process %d of user 0: its memory may not be read: that takes its user, or CAP_SYS_PTRACE", pid)},
		{"hidepid", fmt.Sprintf("unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec %s %d'", nobody, pid),
			fmt.Sprintf("process %d: its memory may not be read: /proc is mounted with hidepid; read it as its user or as root", pid)},
		{"another namespace", fmt.Sprintf("unshare --pid --fork --mount-proc %s mem %d", tpsl, pid),
			fmt.Sprintf("process %d: there is no such process here: it has ended, or its number is that of another PID namespace", pid)},
		{"proof without privilege", fmt.Sprintf("setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin %s mem -proof %d", tpsl, pid),
			fmt.Sprintf("process %d: compare frames: frame numbers are hidden: that takes CAP_SYS_ADMIN", pid)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, nil, "sh", "-c", c.command)
			assert.Equal(t, 1, o.code)
			assert.Equal(t, "tpsl mem: "+c.want+"\n", o.stderr)
		})
	}
	// What can be read is told beside what cannot.
	o := run(t, nil, tpsl, "mem", fmt.Sprint(gone.Process.Pid), fmt.Sprint(pid))
	assert.Equal(t, 1, o.code)
	assert.Contains(t, o.stdout, " rank 1\n")
	assert.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
}

// A job in a PID namespace of its own is known by the numbers of this one.
func TestMemOfNamespace(t *testing.T) {
	testsupport.NothingLeft(t)
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "a PID namespace takes root")
	}
	words := strings.Fields("unshare --pid --fork --kill-child --mount-proc " + built(t, "bin/mpiexec") + " -n 2 -rpp 2 -tpsl private")
	job := start(t, nil, append(words, restingProcess(t))...)
	_, err := job.out.ReadString('\n')
	require.NoError(t, err)
	all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
	require.Empty(t, errs)
	require.Len(t, all, 1)
	require.Len(t, all[0].Ranks, 2)
	assert.Empty(t, all[0].Partial)
	for _, rank := range all[0].Ranks {
		assert.Less(t, rank.Thread, 100, "the number inside")
	}
	require.NoError(t, exec.Command("pkill", "-TERM", "-P", fmt.Sprint(job.Process.Pid)).Run())
	_ = job.Wait()
}

// Ranks that share an address space are read once, however they are named; a child that
// one of them forked is no rank.
func TestMemCountsOnce(t *testing.T) {
	testsupport.NothingLeft(t)
	job := resting(t, restingProcess(t), 2, "-rpp", "2")
	proc := pagetables.Proc("/proc")
	all, errs := proc.Job([]int{job.Process.Pid})
	require.Empty(t, errs)
	require.Len(t, all, 1)
	pids := []int{job.Process.Pid, all[0].PID}
	for _, rank := range all[0].Ranks {
		pids = append(pids, rank.Thread)
	}
	require.Len(t, pids, 4)
	all, errs = proc.Job(pids)
	require.Empty(t, errs)
	require.Len(t, all, 1)
	assert.Len(t, all[0].Ranks, 2)
}

// A job that ends while it is read gives what was seen, or says that it has ended.
func TestMemOfEndingJob(t *testing.T) {
	testsupport.NothingLeft(t)
	job := resting(t, fixture(t, "rest"), 4, "-rpp", "2")
	proc := pagetables.Proc("/proc")
	ended := make(chan error)
	go func() { ended <- exec.Command("kill", fmt.Sprint(job.Process.Pid)).Run() }()
	for tries := 0; ; tries++ {
		all, errs := proc.Job([]int{job.Process.Pid})
		for _, err := range errs {
			if !assert.True(t, isGone(err), err) {
				return
			}
		}
		if len(all) == 0 {
			require.NotEmpty(t, errs)
			break
		}
		require.Less(t, tries, 10_000)
	}
	require.NoError(t, <-ended)
}

func isGone(err error) bool {
	return strings.Contains(err.Error(), pagetables.ErrGone.Error()) || strings.Contains(err.Error(), pagetables.ErrNoRank.Error())
}
