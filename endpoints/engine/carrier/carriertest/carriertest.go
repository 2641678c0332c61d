// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carriertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Within is the time limit of what a test waits for.
const Within = time.Minute

// Context is that of all messages of MustSend.
const Context = 7

// Await polls until there is something, and sleeps meanwhile, as long as it takes.
func Await(t testing.TB, p carrier.Port) *carrier.Event {
	t.Helper()
	e := new(carrier.Event)
	for end := time.Now().Add(Within); time.Now().Before(end); {
		if p.Poll(e) {
			return e
		}
		since := p.Doze()
		if p.Poll(e) {
			p.Rouse()
			return e
		}
		p.Sleep(since, Within)
	}
	t.Fatal("nothing came, or nobody woke the port")
	return nil
}

// AsleepUntil goes to sleep at once, without a limit, whenever there is nothing.
func AsleepUntil(p carrier.Port) *carrier.Event {
	e := new(carrier.Event)
	for {
		since := p.Doze()
		if p.Poll(e) {
			p.Rouse()
			return e
		}
		p.Sleep(since, 0)
	}
}

// A Sender is a port, and what moves its carrier on without finding events, which the test wants to see.
type Sender struct {
	carrier.Port
	Progress func()
}

// MustSend sends when there is room.
func (s Sender) MustSend(t testing.TB, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	for end := time.Now().Add(Within); ; s.Progress() {
		outcome, err := s.Send(to, Context, tag, buf, handle)
		require.NoError(t, err)
		if outcome != carrier.Full {
			return outcome
		}
		require.True(t, time.Now().Before(end), "no room")
	}
}

// AllocatesNothing passes messages of these sizes from rank 0 to rank 1, whose ports are both of the calling thread, and checks that
// this allocates no memory.
func AllocatesNothing(t *testing.T, a, b carrier.Port, sizes []int) {
	t.Helper()
	e := new(carrier.Event)
	for _, size := range sizes {
		buf, dst := Filled(size, 1), make([]byte, size)
		n := testing.AllocsPerRun(300, func() { exchange(a, b, e, buf, dst) })
		assert.Zero(t, n, "%d bytes", size)
		assert.Equal(t, buf, dst)
	}
}

func exchange(a, b carrier.Port, e *carrier.Event, buf, dst []byte) {
	outcome, _ := a.Send(1, 0, 0, buf, 0)
	for !b.Poll(e) {
		a.Poll(e)
	}
	done, _ := b.Fetch(&e.Cell, dst, 0)
	for !done || outcome == carrier.Pending {
		if a.Poll(e) {
			outcome = carrier.Done
		}
		if b.Poll(e) {
			done = true
		}
	}
}

// Fill makes a buffer whose content its number and length tell.
func Fill(buf []byte, number uint64) []byte {
	r := rand.NewPCG(number, uint64(len(buf)))
	rest := buf
	for ; len(rest) >= 8; rest = rest[8:] {
		binary.LittleEndian.PutUint64(rest, r.Uint64())
	}
	for i, word := 0, r.Uint64(); i < len(rest); i++ {
		rest[i] = byte(word >> (8 * i))
	}
	return buf
}

// Filled returns a buffer of so many bytes that Fill has filled.
func Filled(size, number int) []byte { return Fill(make([]byte, size), uint64(number)) }

// CloseAll closes what the test has not closed, all at once: each may wait for the others.
func CloseAll[C carrier.Carrier](t testing.TB, carriers []C) {
	t.Helper()
	ends := make(chan error)
	for _, c := range carriers {
		go func() { ends <- c.Close() }()
	}
	for range carriers {
		if err := <-ends; !errors.Is(err, os.ErrClosed) {
			require.NoError(t, err)
		}
	}
}

// EverySize sends messages of these sizes from rank 0 to rank 1. They come in order, with their envelopes, and whole. Those of up
// to short bytes are done when they are sent.
func EverySize(t *testing.T, a Sender, b carrier.Port, short int, sizes []int) {
	t.Helper()
	for i, size := range sizes {
		buf := Filled(size, i)
		outcome := a.MustSend(t, 1, int32(i), buf, uint64(1000+i))
		assert.Equal(t, size <= short, outcome == carrier.Done, "%d bytes", size)

		m := Await(t, b)
		require.Equal(t, carrier.Arrived, m.Kind)
		require.Equal(t, []int{Context, 0, i, size}, []int{int(m.Cell.Context), int(m.Cell.Source), int(m.Cell.Tag), carrier.Bytes(&m.Cell)}, "%d bytes", size)
		Take(t, a, b, &m.Cell, size, outcome, buf, uint64(1000+i))
	}
}

// Truncation sends messages of these sizes from rank 0 to rank 1, which takes each with several buffers: one that is too short gets
// what it has room for, and one that is too long what there is. How long the message was is known before. The sender is told all the same.
func Truncation(t *testing.T, a Sender, b carrier.Port, sizes []int) {
	t.Helper()
	for i, size := range sizes {
		for _, room := range []int{0, 1, size / 2, size + 5} {
			buf := Filled(size, i)
			outcome := a.MustSend(t, 1, 0, buf, 9)
			m := Await(t, b)
			require.Equal(t, size, carrier.Bytes(&m.Cell))
			Take(t, a, b, &m.Cell, room, outcome, buf, 9)
		}
	}
}

// Take has b fetch a message of a's with room for some bytes of it, moves a on meanwhile, and looks at what both are told. The
// outcome, the buffer and the handle are those of the send.
func Take(t *testing.T, a, b carrier.Port, c *ring.Cell, room int, outcome carrier.Outcome, buf []byte, handle uint64) {
	t.Helper()
	const own = 55
	dst := make([]byte, room+8)
	done, err := b.Fetch(c, dst[:room], own)
	require.NoError(t, err)
	told := make(chan *carrier.Event, 1)
	go func() {
		defer close(told)
		if outcome == carrier.Pending {
			told <- Await(t, a)
		}
	}()
	if !done {
		m := Await(t, b)
		require.Equal(t, carrier.Received, m.Kind)
		require.EqualValues(t, own, m.Handle)
		require.False(t, m.Lost)
	}
	if end, ok := <-told; ok {
		require.Equal(t, carrier.Sent, end.Kind)
		require.Equal(t, handle, end.Handle)
		require.False(t, end.Lost)
	}
	copied := min(room, len(buf))
	require.Equal(t, buf[:copied], dst[:copied])
	require.Equal(t, make([]byte, len(dst)-copied), dst[copied:], "the rest of the buffer")
}

// Mourn waits until a port of a carrier finds that rank 1 is gone, and returns the events before that. The text of the error must match
// why.
func Mourn(t *testing.T, c carrier.Carrier, p carrier.Port, why string) (before []*carrier.Event) {
	t.Helper()
	for {
		e := Await(t, p)
		if e.Kind == carrier.Gone {
			require.Equal(t, []int{1, 1}, []int{e.First, e.Ranks})
			break
		}
		before = append(before, e)
	}
	assert.True(t, p.Gone(1))
	IsGone(t, c.Gone(1), why)
	for _, size := range []int{0, 1000, 1 << 20} {
		_, err := p.Send(1, 0, 0, make([]byte, size), 0)
		IsGone(t, err, why)
	}
	assert.False(t, p.Poll(new(carrier.Event)))
	return before
}

// Left has rank 1 send so many messages, each at once, and leave. Rank 0 gets all of them, then hears that its peer has left; also if
// it is late, and looks only after that.
func Left(t *testing.T, a, b carrier.Carrier, s Sender, late bool, count, size int) {
	t.Helper()
	for i := range count {
		require.Equal(t, carrier.Done, s.MustSend(t, 0, int32(i), Filled(size, i), 0))
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	if late {
		require.NoError(t, <-closed)
		closed <- nil
	}
	before := Mourn(t, a, a.Port(0), "^rank 1 is gone: its process has closed its node$")
	require.Len(t, before, count)
	dst := make([]byte, size)
	for i, e := range before {
		_, err := a.Port(0).Fetch(&e.Cell, dst, 0)
		require.NoError(t, err)
		require.True(t, bytes.Equal(dst, Filled(size, i)))
	}
	require.NoError(t, <-closed)
	require.NoError(t, a.Close())
	assert.ErrorIs(t, a.Close(), os.ErrClosed)
}

// Ended has rank 1 die, with messages under way between it and rank 0. What it had sent at once is delivered. What was under way ends with
// an error whose text matches why. A message from rank 2 comes to rank 0 as before.
func Ended(t *testing.T, n carrier.Carrier, a, b, c Sender, die func(), why string) {
	t.Helper()
	b.MustSend(t, 0, 5, []byte("last words"), 0)
	b.MustSend(t, 0, 6, make([]byte, 1<<20), 0)
	words, offer := Await(t, a), Await(t, a)
	require.Equal(t, carrier.Pending, a.MustSend(t, 1, 0, make([]byte, 1<<20), 7))
	a.MustSend(t, 1, 0, []byte("to nobody"), 0)
	die()
	before := Mourn(t, n, a, why)
	require.Len(t, before, 1)
	IsLost(t, before[0], carrier.Sent, 7)
	dst := make([]byte, 10)
	done, err := a.Fetch(&words.Cell, dst, 0)
	require.NoError(t, err)
	assert.True(t, done)
	assert.Equal(t, "last words", string(dst))
	done, err = a.Fetch(&offer.Cell, make([]byte, 1<<20), 0)
	assert.True(t, done)
	IsGone(t, err, why)
	c.MustSend(t, 0, 8, nil, 0)
	assert.EqualValues(t, 8, Await(t, a).Cell.Tag)
}

// IsLost checks that an event is the end of what was under way with this handle, and that it was lost with its peer.
func IsLost(t *testing.T, e *carrier.Event, kind carrier.Kind, handle uint64) {
	t.Helper()
	assert.Equal(t, []any{kind, true, handle}, []any{e.Kind, e.Lost, e.Handle})
}

// IsGone checks that an error says that a peer is gone, and that its text matches why.
func IsGone(t *testing.T, err error, why string) {
	t.Helper()
	require.ErrorIs(t, err, carrier.ErrPeerGone)
	require.Regexp(t, why, err.Error())
}
