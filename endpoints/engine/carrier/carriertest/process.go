// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carriertest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A Process is this test binary once more, in another role. It is told what to do on its standard input, and answers in lines.
type Process struct {
	Input io.WriteCloser
	Limit time.Duration // how long a line may take

	t     testing.TB
	role  string
	cmd   *exec.Cmd
	lines chan string
	said  bytes.Buffer // on its standard error
	ended bool
}

// Start starts a process. The role is a variable of its environment, "NAME=WORDS", which TestMain looks at. The files are its
// descriptors from 3 on. The test kills it, if it has not ended before.
func Start(t testing.TB, role string, files ...*os.File) *Process {
	t.Helper()
	p, err := StartIn(t, 0, role, files...)
	require.NoError(t, err)
	return p
}

// StartIn is Start in new namespaces, which are flags of clone. It may be refused.
func StartIn(t testing.TB, namespaces uintptr, role string, files ...*os.File) (*Process, error) {
	t.Helper()
	p := &Process{Limit: Within, t: t, role: role, cmd: exec.Command("/proc/self/exe"), lines: make(chan string, 1<<16)}
	p.cmd.Env = append(os.Environ(), role)
	p.cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: namespaces}
	p.cmd.ExtraFiles = files
	p.cmd.Stderr = &p.said
	var err error
	p.Input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(p.Kill)
	return p, nil
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Line returns the next line.
func (p *Process) Line() string {
	p.t.Helper()
	return p.Until("")
}

// Until returns the first line of those to come that begins so. A process that does not say it in time is made to print its goroutines.
func (p *Process) Until(prefix string) string {
	p.t.Helper()
	for limit := time.After(p.Limit); ; {
		select {
		case line, more := <-p.lines:
			if !more {
				p.Kill()
				p.t.Fatalf("%s ended before it said %q: %s", p.role, prefix, &p.said)
			}
			if strings.HasPrefix(line, prefix) {
				return line
			}
		case <-limit:
			_ = p.cmd.Process.Signal(unix.SIGQUIT)
			time.Sleep(100 * time.Millisecond)
			p.Kill()
			p.t.Fatalf("%s did not say %q in %v: %s", p.role, prefix, p.Limit, &p.said)
		}
	}
}

// Release ends the standard input of the process.
func (p *Process) Release() { p.Input.Close() }

// Wait ends the standard input of the process, and waits for its end, which must be a good one. It returns the lines that nobody has read.
func (p *Process) Wait() (unread []string) {
	p.t.Helper()
	p.Release()
	for line := range p.lines {
		unread = append(unread, line)
	}
	p.ended = true
	require.NoError(p.t, p.cmd.Wait(), "%s: %s", p.role, &p.said)
	return unread
}

// Kill kills the process, wherever it is, and waits for its end.
func (p *Process) Kill() {
	if p.ended {
		return
	}
	p.ended = true
	_ = p.cmd.Process.Kill()
	for range p.lines { // until it has ended
	}
	_ = p.cmd.Wait()
}

// KillLater kills the process after a time. It does not wait for the end; Kill does.
func (p *Process) KillLater(after time.Duration) {
	time.AfterFunc(after, func() { _ = p.cmd.Process.Kill() })
}
