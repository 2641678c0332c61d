// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"fmt"
	"os"
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

// start starts such a process, which joins by the socket. Words are its role and what that needs.
func start(t testing.TB, socket *os.File, o Options, words string) *carriertest.Process {
	t.Helper()
	role, rest, _ := strings.Cut(words, " ")
	return carriertest.Start(t, fmt.Sprintf("%s=%s %d %d %d %d %v %s", roleVariable, role, o.First, o.Ports, o.Total, o.Cells, o.Streams, rest), socket)
}

// Together has processes of one rank each join: this one, where the words are "", and
// children. Node i or child i has rank i.
func Together(t testing.TB, o Options, words ...string) ([]*Node, []*carriertest.Process) {
	t.Helper()
	forMeet, forJoin := sockets(t, len(words))
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	o.Ports, o.Total = 1, len(words)
	nodes, children := make([]*Node, len(words)), make([]*carriertest.Process, len(words))
	ends := make(chan error)
	for i, w := range words {
		o := o
		o.First = i
		if w != "" {
			children[i] = start(t, forJoin[i], o, w)
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
