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
