// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

func init() {
	Roles["closed"] = func(n *Node, _ []string, out func(string, ...any)) {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // its memory is nobody's business now
		p := n.port(1)
		_, _ = p.Send(0, 0, 0, carriertest.Filled(1<<20, 1), 7)
		var e carrier.Event
		for end := time.Now().Add(carriertest.Within); !p.Poll(&e) && time.Now().Before(end); {
			time.Sleep(10 * time.Microsecond)
		}
		out("%v %d", e.Kind == carrier.Sent, e.Handle)
	}
}

// Where the kernel refuses later what it allowed at first, messages come in parts.
func TestRefusedLater(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes, children := Together(t, Options{}, "", "closed")
	a := nodes[0].port(0)
	offer := carriertest.Await(t, a)
	require.True(t, nodes[0].peers[1].direct.Load())
	buf := make([]byte, 1<<20)
	fetched := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread, which is root's no more, ends with the goroutine
		if err := dropPtrace(); err != nil {
			fetched <- err
			return
		}
		if done, err := a.Fetch(&offer.Cell, buf, 5); done || err != nil {
			fetched <- errors.New("read in spite of all")
			return
		}
		fetched <- nil
	}()
	require.NoError(t, <-fetched)
	e := carriertest.Await(t, a)
	assert.Equal(t, []any{carrier.Received, uint64(5), false}, []any{e.Kind, e.Handle, e.Lost})
	assert.Equal(t, carriertest.Filled(1<<20, 1), buf)
	assert.False(t, nodes[0].peers[1].direct.Load())
	assert.Equal(t, "true 7", children[1].Line())
	assert.Empty(t, children[1].Wait())
}

// dropPtrace takes the right to read any process's memory from this thread.
func dropPtrace() error {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&h, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_SYS_PTRACE
	return unix.Capset(&h, &data[0])
}
