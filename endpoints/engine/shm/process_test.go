// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
)

// Roles are what this test binary does when a test runs it as a process of its own: it has
// joined, gets what the test says as words, and answers in lines.
var Roles = map[string]func(n *Node, words []string, out func(format string, a ...any)){}

const roleVariable = "SHM_TEST_ROLE"

func TestMain(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVariable))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	if err := perform(role[0], role[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// perform is the main function of a child: its socket is descriptor 3.
func perform(role string, words []string) error {
	var o Options
	if _, err := fmt.Sscan(strings.Join(words[:5], " "), &o.First, &o.Ports, &o.Total, &o.Cells, &o.Streams); err != nil {
		return err
	}
	socket := os.NewFile(3, "socket")
	n, err := Join(context.Background(), socket, o)
	if err != nil {
		return err
	}
	socket.Close()
	play, known := Roles[role]
	if !known {
		return fmt.Errorf("no role %q", role)
	}
	play(n, words[5:], func(format string, a ...any) { fmt.Printf(format+"\n", a...) })
	return n.Close()
}

// A Child is such a process.
type Child struct {
	t      testing.TB
	name   string
	cmd    *exec.Cmd
	input  io.Closer
	lines  chan string
	stderr bytes.Buffer
	ended  bool
}

// Start starts a child that joins by the socket. Words are its role and what that needs.
func Start(t testing.TB, socket *os.File, o Options, words string) *Child {
	t.Helper()
	role, rest, _ := strings.Cut(words, " ")
	c := &Child{t: t, name: fmt.Sprintf("rank %d (%s)", o.First, words), lines: make(chan string, 100)}
	c.cmd = exec.Command("/proc/self/exe")
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %d %d %v %s", roleVariable, role, o.First, o.Ports, o.Total, o.Cells, o.Streams, rest))
	c.cmd.ExtraFiles = []*os.File{socket}
	c.cmd.Stderr = &c.stderr
	var err error
	c.input, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	t.Cleanup(c.Kill)
	return c
}

// Line returns the child's next line.
func (c *Child) Line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.Kill()
			c.t.Fatalf("%s ended: %s", c.name, &c.stderr)
		}
		return line
	case <-time.After(carriertest.Within):
		_ = c.cmd.Process.Signal(unix.SIGQUIT) // where is it?
		time.Sleep(100 * time.Millisecond)
		c.Kill()
		c.t.Fatalf("%s: no line in %v\n%s", c.name, carriertest.Within, &c.stderr)
	}
	return ""
}

// Release ends the child's standard input, which is what most roles wait for.
func (c *Child) Release() { c.input.Close() }

// Wait waits for the end of a child that has nothing more to say, which must be a good one.
func (c *Child) Wait() {
	c.t.Helper()
	c.Release()
	for line := range c.lines {
		c.t.Errorf("%s: says %q", c.name, line)
	}
	c.ended = true
	require.NoError(c.t, c.cmd.Wait(), "%s: %s", c.name, &c.stderr)
}

// Kill kills the child, at whatever it is, and takes its end.
func (c *Child) Kill() {
	if c.ended {
		return
	}
	c.ended = true
	_ = c.cmd.Process.Kill()
	for range c.lines { // until it has ended
	}
	_ = c.cmd.Wait()
}

// Together has processes of one rank each join: this one, where the words are "", and
// children. Node i or child i has rank i.
func Together(t testing.TB, o Options, words ...string) ([]*Node, []*Child) {
	t.Helper()
	forMeet, forJoin := sockets(t, len(words))
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	o.Ports, o.Total = 1, len(words)
	nodes, children := make([]*Node, len(words)), make([]*Child, len(words))
	ends := make(chan error)
	for i, w := range words {
		o := o
		o.First = i
		if w != "" {
			children[i] = Start(t, forJoin[i], o, w)
			go func() { ends <- nil }()
			continue
		}
		go func() {
			var err error
			nodes[i], err = Join(ctx, forJoin[i], o)
			ends <- err
		}()
	}
	require.NoError(t, Meet(ctx, forMeet))
	for range words {
		require.NoError(t, <-ends)
	}
	t.Cleanup(func() {
		for _, n := range nodes {
			if n != nil {
				require.NoError(t, n.Close())
			}
		}
	})
	return nodes, children
}

// stopped stops this process as SIGSTOP does: all its threads, wherever they are. It
// says so first.
func stopped(out func(string, ...any)) {
	out("stops")
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	time.Sleep(carriertest.Within) // until this thread is stopped too
}
