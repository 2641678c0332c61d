// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"testing"
	"time"

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

// An operation that ended without its message has sent or received no bytes.
func TestNoBytesWithoutMessage(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		r, err := f.Port(0).Irecv(make([]byte, 8), Envelope{Peer: 1})
		require.NoError(t, err)
		s, err := f.Port(0).Isend(make([]byte, 100000), Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, r.Cancel())
		status, err := r.Wait()
		assert.ErrorIs(t, err, ErrCancelled)
		assert.Zero(t, status.Bytes)
		require.NoError(t, f.Close())
		status, err = s.Wait()
		assert.ErrorIs(t, err, ErrClosed)
		assert.Zero(t, status.Bytes)
	})
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

// However a thread waits as the fabric is closed, and beside whichever others, it hears.
func TestCloseEndsAllWaits(t *testing.T) {
	each(t, Options{Ports: 3}, func(t *testing.T, f *Fabric) {
		e := Envelope{Peer: 2}
		waits := []func(p *Port) error{
			func(p *Port) error { _, err := p.Recv(nil, e); return err },
			func(p *Port) error { _, err := p.Probe(e); return err },
			func(p *Port) error {
				r, err := p.Irecv(nil, e)
				if err == nil {
					_, _, err = WaitAny([]Request{{}, r})
				}
				return err
			},
		}
		threads := 1 // on a port of its own, in model Private
		if f.options.Model != Private {
			threads = 3
		}
		ends := make(chan error)
		for i, wait := range waits {
			for k := range threads {
				go func() { ends <- wait(f.Port((i + k) % 3)) }()
			}
		}
		time.Sleep(5 * time.Millisecond) // some sleep by now
		require.NoError(t, f.Close())
		for range threads * len(waits) {
			assert.ErrorIs(t, <-ends, ErrClosed)
		}
	})
}
