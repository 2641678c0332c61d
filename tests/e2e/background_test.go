// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const markName = "TPSL_TEST_MARK"

var marks atomic.Int64

// A background job runs while the test looks at it. Its processes are known by a
// mark in their environment, whoever their parent is.
type background struct {
	*exec.Cmd
	mark  string
	stdin io.Closer // its end ends a program that reads it
	out   *bufio.Reader
	said  string // the file of its stderr
}

// start starts a job that says "ready" on a line of its own, and waits for that.
// What is left of it is killed at the end of the test, and what it wrote to stderr is told if that failed.
func start(t *testing.T, env []string, argv ...string) *background {
	t.Helper()
	b := &background{Cmd: exec.Command(argv[0], argv[1:]...), mark: fmt.Sprintf("%s=%d-%d", markName, os.Getpid(), marks.Add(1))}
	b.Env = append(append(os.Environ(), env...), b.mark)
	stdin, err := b.StdinPipe()
	require.NoError(t, err)
	b.stdin = stdin
	stdout, err := b.StdoutPipe()
	require.NoError(t, err)
	b.out = bufio.NewReader(stdout)
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer said.Close()
	b.Stderr, b.said = said, said.Name()
	require.NoError(t, b.Start())
	timer := time.AfterFunc(limit, b.killAll)
	t.Cleanup(func() {
		timer.Stop()
		b.killAll()
		_ = b.Wait() // a second time where the test has waited
		if text, err := os.ReadFile(b.said); t.Failed() {
			t.Log(string(text), err)
		}
	})
	line, err := b.out.ReadString('\n')
	require.NoError(t, err, "the job ended before it was ready")
	require.Equal(t, "ready\n", line)
	return b
}

func (b *background) killAll() {
	for _, pid := range b.processes() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// processes returns what carries the job's mark. A zombie has no environment.
func (b *background) processes() (found []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(b.mark+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// parent returns the process that started another one.
func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// pid (comm) state ppid ...: proc_pid_stat(5). comm may hold anything.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(string(f[1]))
	return ppid
}

// rank returns the one process of the job that runs the program.
func (b *background) rank(t *testing.T, program string) int {
	t.Helper()
	var found []int
	for _, pid := range b.processes() {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == program {
			found = append(found, pid)
		}
	}
	require.Len(t, found, 1, "processes of %s", program)
	return found[0]
}
