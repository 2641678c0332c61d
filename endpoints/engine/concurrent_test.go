// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// A thread that posts a receive finds a large message whose arrival is not over: the owner of the inner half has put it
// into the table, and still keeps its sender from cancelling it. The receive waits for that moment, and has the message.
func TestReceiveFindsAMessageThatIsArriving(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Model: Concurrent, Eager: 100})
	data := pattern(1000, 1)
	sent, err := f.Port(0).Isend(data, Envelope{Peer: 1})
	require.NoError(t, err)

	p := f.Port(1)
	owner := p.enter()
	c := p.inbox.Front()
	require.True(t, p.take(c))
	a := p.stand(c)
	a.hold(c)
	require.Equal(t, match.None, p.matcher.Arrive(a.index))

	buf, received := make([]byte, 1000), make(chan Request)
	go func() {
		r, err := p.Irecv(buf, Envelope{Peer: 0})
		assert.NoError(t, err)
		received <- r
	}()
	until(t, "match", func() bool {
		i, _ := p.matcher.Probe(Envelope{Peer: 0}, nil)
		return i == match.None
	})
	p.keep(a, c)
	p.untake(c)
	p.inbox.Pop()
	p.leave(owner)
	r := <-received
	require.True(t, r.done(), "the message is lost")
	_, err = r.Wait()
	require.NoError(t, err)
	assert.Equal(t, data, buf)
	_, err = sent.Wait()
	assert.NoError(t, err)
}

// Receives that wait side by side, more than the table has room for at first, each get the message of their envelope,
// while the messages come.
func TestTableGrowsBesideItsUsers(t *testing.T) {
	const threads, each = 4, 2000
	f := fabric(t, Options{Ports: 2, Model: Concurrent})
	bufs := make([][each][8]byte, threads)
	var receivers sync.WaitGroup
	for g := range threads {
		receivers.Go(func() {
			var all []Request
			for i := range each {
				r, err := f.Port(1).Irecv(bufs[g][i][:], Envelope{Peer: 0, Tag: int32(g*each + i)})
				assert.NoError(t, err)
				all = append(all, r)
			}
			assert.NoError(t, WaitAll(all, nil))
		})
	}
	for i := range threads * each {
		require.NoError(t, f.Port(0).Send(number(i), Envelope{Peer: 1, Tag: int32(i)}))
	}
	receivers.Wait()
	for i := range threads * each {
		require.Equal(t, number(i), bufs[i/each][i%each][:])
	}
}
