// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A request that was waited for says so, whatever other threads do meanwhile with
// the op that it stood for.
func TestStaleBesideOthers(t *testing.T) {
	const count = 300
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			p := fabric(t, Options{Ports: 1, Model: model}).Port(0)
			old, err := p.Isend(nil, Envelope{Tag: 1})
			require.NoError(t, err)
			_, err = old.Wait()
			require.NoError(t, err)
			var all sync.WaitGroup
			all.Go(func() {
				for range count {
					r, err := p.Irecv(nil, Envelope{})
					assert.NoError(t, err)
					assert.NoError(t, p.Send(nil, Envelope{}))
					_, err = r.Wait()
					assert.NoError(t, err)
				}
			})
			all.Go(func() {
				for range count {
					_, done, err := old.Test()
					assert.True(t, done)
					assert.ErrorIs(t, err, ErrStale)
					assert.ErrorIs(t, old.Cancel(), ErrStale)
				}
			})
			all.Wait()
		})
	}
}

// A cancel that waits for the port while another thread's wait ends the operation leaves
// the next one alone, which has its op.
func TestCancelTooLate(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Model: LockQ})
	p := f.Port(0)
	send, err := p.Isend(make([]byte, 100000), Envelope{Peer: 1})
	require.NoError(t, err)
	owner := p.enter()
	free := p.ops.head.Load()
	cancelled := make(chan error)
	go func() { cancelled <- send.Cancel() }()
	until(t, "cancel under way", func() bool { return p.ops.head.Load() != free })
	_, err = f.Port(1).Recv(make([]byte, 100000), Envelope{})
	require.NoError(t, err)
	_, err = send.Wait()
	require.NoError(t, err)
	next, err := p.Irecv(nil, Envelope{Tag: 1})
	require.NoError(t, err)
	require.Same(t, send.op, next.op)
	p.leave(owner)
	assert.NoError(t, <-cancelled)
	_, done, err := next.Test()
	assert.False(t, done)
	assert.NoError(t, err)
}

// Test ends, as Wait does, when the fabric is closed.
func TestCloseEndsTests(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		r, err := f.Port(0).Irecv(nil, Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, done, err := r.Test()
		assert.True(t, done)
		assert.ErrorIs(t, err, ErrClosed)
	})
}

// The sender of a unique envelope, which has copied its half, cannot cancel while the
// receiver copies the other.
func TestCancelWhileTheOtherCopies(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Unique: true})
	data, buf := pattern(several, 1), make([]byte, several)
	s, err := f.Port(0).Isend(data, Envelope{Peer: 1})
	require.NoError(t, err)
	r, err := f.Port(1).Irecv(buf, Envelope{})
	require.NoError(t, err)
	p := f.Port(0)
	require.True(t, r.op.take(r.turn)) // what Port(0) does as it finds the ready cell
	require.True(t, p.sends.Cancel(s.op.index))
	p.agree(s.op, r.op)
	require.NoError(t, s.Cancel())
	assert.False(t, s.done(), "its message is on the way")
	r.op.copyFrom(0)
	_, err = s.Wait()
	require.NoError(t, err)
	_, err = r.Wait()
	require.NoError(t, err)
	assert.Equal(t, data, buf)
}

// What was not waited for when fabric and node were closed has ended with them.
func TestFarWaitAfterClose(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		r, err := a.Irecv(nil, Envelope{Peer: 1})
		require.NoError(t, err)
		s, err := a.Isend(make([]byte, 100000), Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, a.fabric.Close())
		require.NoError(t, a.fabric.options.Node.Close())
		_, err = r.Wait()
		assert.ErrorIs(t, err, ErrClosed)
		_, err = s.Wait()
		assert.ErrorIs(t, err, ErrClosed)
	})
}
