// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// sendAll sends messages of a size until there is no room for a while, and returns how many went, and
// how many of these as offers.
func sendAll(t *testing.T, a, b *Port, size int) (all, offers int) {
	t.Helper()
	for refused := 0; refused < 20; {
		outcome, err := a.Send(int(b.rank), 0, int32(all), make([]byte, size), uint64(all))
		require.NoError(t, err)
		switch outcome {
		case carrier.Full:
			refused++
			time.Sleep(time.Millisecond)
			a.node.progress(true) // to no avail: b takes nothing
			b.node.progress(true)
			continue
		case carrier.Pending:
			offers++
		}
		all++
	}
	return all, offers
}

// kept is how many bytes of messages a process keeps.
func kept(p *Port) (bytes int) {
	var all []event
	for e, found := p.events.Take(); found; e, found = p.events.Take() {
		all = append(all, e)
	}
	for _, e := range all {
		bytes += cap(e.payload)
		p.events.Put(e)
	}
	return bytes
}

// A port that takes nothing is sent a window of messages and no more, and takes little more memory
// than that. Short messages take all of it. Of long ones half a window comes, and then offers. When it
// takes some, others follow. Another port of its process is not concerned.
func TestWindow(t *testing.T) {
	testsupport.NothingLeft(t)
	const window = 256 << 10
	for size, want := range map[int]struct{ all, offers int }{
		40:       {window / (64 + 40), 0},
		10_000:   {window/2/(64+10_000) + 1 + (window/2-(64+10_000)+(window/2)%(64+10_000))/64, -1},
		64 << 10: {window / 64, window / 64},
	} {
		nodes := joined(t, Options{Window: window}, 1, 2)
		a, b, other := nodes[0].port(0), nodes[1].port(1), nodes[1].port(2)
		all, offers := sendAll(t, a, b, size)
		if want.offers >= 0 {
			assert.Equal(t, want.all, all, "%d bytes", size)
			assert.Equal(t, want.offers, offers, "%d bytes", size)
		} else {
			assert.Equal(t, window/2/(64+size)+1, all-offers, "%d bytes", size)
			assert.Equal(t, (window-(all-offers)*(64+size))/64, offers, "%d bytes", size)
		}
		assert.LessOrEqual(t, kept(b), 2*window, "buffers are powers of two")

		mustSend(t, a, 2, 99, []byte("for the other"), 0)
		assert.EqualValues(t, 99, carriertest.Await(t, other).Cell.Tag)

		sent := 0
		for i := range all {
			e := carriertest.Await(t, b)
			for ; e.Kind != carrier.Arrived; e = carriertest.Await(t, b) {
			}
			require.EqualValues(t, i, e.Cell.Tag)
			_, err := b.Fetch(&e.Cell, make([]byte, size), 0) // its own: an offer's bytes come later
			require.NoError(t, err)
			a.node.progress(true)
		}
		for ; sent < all; sent++ {
			mustSend(t, a, 1, 0, make([]byte, 40), 0)
			e := carriertest.Await(t, b)
			for ; e.Kind != carrier.Arrived; e = carriertest.Await(t, b) {
			}
			_, err := b.Fetch(&e.Cell, make([]byte, size), 0) // its own: an offer's bytes come later
			require.NoError(t, err)
			a.node.progress(true)
		}
		carriertest.CloseAll(t, nodes)
	}
}

// What waits to be written, or to be acknowledged, takes limited memory, too: a peer that reads
// nothing makes sends wait.
func TestUnread(t *testing.T) {
	nodes := joined(t, Options{Window: 1 << 30, AtStart: true}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].links[0]
	b.in.Lock() // it reads nothing
	sent := 0
	for {
		outcome, err := a.Send(1, 0, int32(sent), make([]byte, 16<<10), 0)
		require.NoError(t, err)
		if outcome == carrier.Full {
			break
		}
		sent++
	}
	o := &nodes[0].links[1].out
	assert.Less(t, o.held, maxHeld+2*chunkSize)
	assert.Less(t, sent, 1000)
	b.in.Unlock()
	for i := range sent {
		e := carriertest.Await(t, nodes[1].port(1))
		require.EqualValues(t, i, e.Cell.Tag)
	}
	mustSend(t, a, 1, 0, nil, 0)
}

// Many short messages that were offered and are pulled at once share the memory of the frames before them.
func TestPulledAtOnce(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{Eager: 1}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	const count = 2000
	var offers []*carrier.Event
	for i := range count {
		require.Equal(t, carrier.Pending, mustSend(t, a, 1, int32(i), carriertest.Filled(100, i), uint64(i)))
	}
	for range count {
		offers = append(offers, carriertest.Await(t, b))
	}
	got := make([][]byte, count)
	for i, e := range offers {
		got[i] = make([]byte, 100)
		_, err := b.Fetch(&e.Cell, got[i], uint64(i))
		require.NoError(t, err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range count {
			assert.EqualValues(t, i, carriertest.Await(t, a).Handle)
		}
	}()
	for i := range count {
		require.EqualValues(t, i, carriertest.Await(t, b).Handle)
		require.Equal(t, carriertest.Filled(100, i), got[i])
	}
	<-sent
	assert.LessOrEqual(t, a.node.buffers.Spare(), maxHeld)
}
