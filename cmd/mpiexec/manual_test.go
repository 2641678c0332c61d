// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// manually starts a job with -launcher manual, hands its lines to see as they come, and returns the exit code. Nothing may be left
// of the pipes of the job, which are in the folder temp, afterwards.
func manually(t *testing.T, temp string, see func(j *job, line string), args ...string) (j *job, code int) {
	t.Helper()
	t.Setenv("TMPDIR", temp)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	j = launchTo(t, nil, w, append([]string{"mpiexec", "-launcher", "manual"}, args...)...)
	w.Close()
	for lines := bufio.NewScanner(r); lines.Scan(); {
		see(j, lines.Text())
	}
	code = j.end(t)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
	return j, code
}

// A manualUser runs the lines of -launcher manual when they are complete.
type manualUser struct {
	commands []*exec.Cmd
	begun    int
	rest     []string // the other lines
}

func (u *manualUser) see(_ *job, line string) {
	if command, found := strings.CutPrefix(line, "HYDRA_LAUNCH: "); found {
		u.commands = append(u.commands, exec.Command("sh", "-c", command))
	} else if line == "HYDRA_LAUNCH_END" {
		for ; u.begun < len(u.commands); u.begun++ {
			_ = u.commands[u.begun].Start() // Wait tells
		}
	} else {
		u.rest = append(u.rest, line)
	}
}

func (u *manualUser) wait(t *testing.T) {
	t.Helper()
	for _, command := range u.commands {
		assert.NoError(t, command.Wait())
	}
}

// The lines of -launcher manual start the proxies, whoever runs them.
func TestManual(t *testing.T) {
	testsupport.NothingLeft(t)
	var user manualUser
	j, code := manually(t, t.TempDir(), user.see, "-hosts", "a,b", "-n", "2", "-l", "sh", "-c", "echo $PMI_HOSTNAME")
	assert.Zero(t, code, j.errOut.String())
	user.wait(t)
	assert.Len(t, user.commands, 2)
	assert.ElementsMatch(t, []string{"[0] a", "[1] b"}, user.rest)
}

// Ranks that are spawned have lines of their own.
func TestManualSpawn(t *testing.T) {
	testsupport.NothingLeft(t)
	var user manualUser
	j, code := manually(t, t.TempDir(), user.see, "-hosts", "a,b", "-n", "1", "pmiprobe", init1,
		"mcmd=spawn\nnprocs=2\nexecname=echo\ntotspawns=1\nspawnssofar=1\nargcnt=1\narg1=spawned\npreput_num=0\ninfo_num=0\nendcmd", "cmd=finalize")
	assert.Zero(t, code, j.errOut.String())
	user.wait(t)
	assert.Contains(t, user.rest, "cmd=spawn_result rc=0")
	assert.Contains(t, user.rest, "spawned")
}

// Nobody runs the lines, which are more than mpiexec awaits at once, and the user ends the job.
func TestManualGivenUp(t *testing.T) {
	testsupport.NothingLeft(t)
	_, code := manually(t, t.TempDir(), func(j *job, line string) {
		if line == "HYDRA_LAUNCH_END" {
			assert.NoError(t, j.Process.Signal(unix.SIGINT))
			assert.Eventually(t, func() bool { return j.Process.Signal(unix.SIGINT) != nil || len(j.processes()) == 0 }, patience, 100*time.Millisecond)
		}
	}, "-hosts", "n[1-40]", "-n", "40", "true")
	assert.Equal(t, 255, code)
}

// There is no room for the pipes of all hosts.
func TestManualWithoutRoom(t *testing.T) {
	testsupport.NothingLeft(t)
	temp := t.TempDir()
	if err := unix.Mount("tmpfs", temp, "tmpfs", 0, "nr_inodes=5"); err != nil {
		testsupport.Unable(t, "cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(temp, 0)) })
	j, code := manually(t, temp, func(*job, string) {}, "-hosts", "n[1-3]", "-n", "3", "true")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "mpiexec: make pipes for -launcher manual: no space left on device")
}
