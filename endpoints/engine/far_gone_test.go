// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// When a part of the fabric has gone, what it had sent still comes, and all else ends
// with an error that names its rank. Others go on.
func TestFarGone(t *testing.T) {
	testsupport.NothingLeft(t)
	for i := range len(Models()) * len(ways) {
		model, by := Models()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			f := spanning(t, Options{Model: model}, by, 1, 1, 1)
			a, b, c := f[0].Port(0), f[1].Port(1), f[2].Port(2)
			require.NoError(t, b.Send([]byte("last words"), Envelope{Peer: 0}))
			received, err := a.Irecv(make([]byte, 9), Envelope{Peer: 1, Tag: 1})
			require.NoError(t, err)
			any, err := a.Irecv(make([]byte, 9), Envelope{Peer: AnySource, Tag: 2})
			require.NoError(t, err)
			sent, err := a.Isend(make([]byte, 1<<20), Envelope{Peer: 1})
			require.NoError(t, err)
			time.AfterFunc(50*time.Millisecond, func() { f[1].Close(); f[1].options.Carrier.Close() })

			for _, r := range []Request{received, sent} {
				_, err := r.Wait()
				assert.ErrorIs(t, err, ErrPeerGone)
				assert.EqualError(t, err, "rank 1 is gone: its process has closed its node")
			}
			buf := make([]byte, 20)
			s, err := a.Recv(buf, Envelope{Peer: 1})
			require.NoError(t, err)
			assert.Equal(t, "last words", string(buf[:s.Bytes]))
			_, err = a.Recv(buf, Envelope{Peer: 1})
			assert.ErrorIs(t, err, ErrPeerGone)
			assert.ErrorIs(t, a.Send(nil, Envelope{Peer: 1}), ErrPeerGone)

			require.NoError(t, c.Send([]byte("hello"), Envelope{Peer: 0, Tag: 2}))
			_, err = any.Wait()
			require.NoError(t, err)
		})
	}
}

// A fabric that closes ends what waits for other processes too.
func TestFarClose(t *testing.T) {
	for _, by := range ways {
		f := spanning(t, Options{}, by, 1, 1)
		a, b := f[0].Port(0), f[1].Port(1)
		large, err := a.Isend(make([]byte, 1<<20), Envelope{Peer: 1})
		require.NoError(t, err)
		var closing sync.WaitGroup // to its end: then the nodes may be closed, too
		closing.Go(func() { time.Sleep(50 * time.Millisecond); f[0].Close() })
		_, err = large.Wait()
		assert.ErrorIs(t, err, ErrClosed)
		closing.Go(func() { time.Sleep(50 * time.Millisecond); f[1].Close() })
		_, err = b.Recv(nil, Envelope{Peer: 0, Tag: 1}) // sleeps in the kernel
		assert.ErrorIs(t, err, ErrClosed)
		closing.Wait()
	}
}

// Who probes for a message of a rank that is gone hears so, once all that came was received.
func TestFarProbeGone(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		require.NoError(t, b.Send([]byte("last words"), Envelope{}))
		time.AfterFunc(10*time.Millisecond, func() { b.fabric.Close(); b.fabric.options.Carrier.Close() })
		_, err := a.Probe(Envelope{Peer: 1, Tag: 1})
		require.EqualError(t, err, "rank 1 is gone: its process has closed its node")
		s, err := a.Probe(Envelope{Peer: 1})
		require.NoError(t, err)
		assert.Equal(t, 10, s.Bytes)
		_, found, err := a.Iprobe(Envelope{Peer: AnySource, Tag: 1})
		require.NoError(t, err)
		assert.False(t, found)
	})
}

// What was not waited for when fabric and node were closed has ended with them.
func TestFarWaitAfterClose(t *testing.T) {
	eachFar(t, func(t *testing.T, a, _ *Port) {
		r, err := a.Irecv(nil, Envelope{Peer: 1})
		require.NoError(t, err)
		s, err := a.Isend(make([]byte, 100000), Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, a.fabric.Close())
		require.NoError(t, a.fabric.options.Carrier.Close())
		_, err = r.Wait()
		assert.ErrorIs(t, err, ErrClosed)
		_, err = s.Wait()
		assert.ErrorIs(t, err, ErrClosed)
	})
}
