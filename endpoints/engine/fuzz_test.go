// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A scripted carrier keeps what carriers promise, and has rank 0 here. What ranks 1 and 2 send, and when they are gone, is made up.
type scripted struct {
	bell   carrier.Bell
	events []*carrier.Event
	kept   map[uint64][]byte // by number, what Kept and Offer cells stand for
	last   uint64            // number
	under  []transfer        // under way
	taken  []int             // bytes of each message that was fetched
	gone   [3]bool
}

// A transfer is a Send or a Fetch that is not over.
type transfer struct {
	peer      int
	end       *carrier.Event
	from, dst []byte
}

func (*scripted) Size() int                     { return 3 }
func (*scripted) Ranks() (first, count int)     { return 0, 1 }
func (*scripted) Near() int                     { return 1 }
func (*scripted) Reaches(int) bool              { return true }
func (s *scripted) Close() error                { return nil }
func (s *scripted) Bell() *carrier.Bell         { return &s.bell }
func (s *scripted) Doze() uint32                { return s.bell.Doze() }
func (s *scripted) Rouse()                      { s.bell.Rouse() }
func (s *scripted) Sleep(uint32, time.Duration) { s.bell.Rouse() }

// A scriptedPort is its only port, whose Gone is another.
type scriptedPort struct{ *scripted }

func (s *scripted) Port(rank int) carrier.Port {
	if rank == 0 {
		return scriptedPort{s}
	}
	return nil
}

func (s *scripted) Gone(rank int) error {
	if s.gone[rank] {
		return &carrier.GoneError{Rank: rank, Why: "the test says so"}
	}
	return nil
}

func (p scriptedPort) Gone(rank int) bool { return p.gone[rank] }

func (p scriptedPort) Send(to int, _ uint32, _ int32, buf []byte, handle uint64) (carrier.Outcome, error) {
	switch {
	case p.gone[to]:
		return carrier.Full, p.scripted.Gone(to)
	case len(buf) <= ring.Inline:
		return carrier.Done, nil
	}
	p.under = append(p.under, transfer{peer: to, end: &carrier.Event{Kind: carrier.Sent, Handle: handle}})
	return carrier.Pending, nil
}

func (p scriptedPort) Poll(e *carrier.Event) bool {
	if len(p.events) == 0 {
		return false
	}
	from, c := p.events[0], &p.events[0].Cell
	p.events = p.events[1:]
	e.Kind, e.Lost, e.Handle, e.First, e.Ranks = from.Kind, from.Lost, from.Handle, from.First, from.Ranks
	e.Cell.Kind, e.Cell.Context, e.Cell.Source, e.Cell.Tag = c.Kind, c.Context, c.Source, c.Tag
	e.Cell.Length, e.Cell.Inline = c.Length, c.Inline
	return true
}

func (p scriptedPort) Fetch(c *ring.Cell, dst []byte, handle uint64) (done bool, err error) {
	p.taken = append(p.taken, carrier.Bytes(c))
	dst = dst[:min(len(dst), carrier.Bytes(c))]
	from := c.Inline[:]
	if c.Kind != carrier.Inline {
		from = p.kept[carrier.Word(c, 0)]
	}
	switch {
	case c.Kind != carrier.Offer:
		copy(dst, from)
	case p.gone[c.Source]:
		return true, p.scripted.Gone(int(c.Source))
	case len(dst) > 0:
		p.under = append(p.under, transfer{int(c.Source), &carrier.Event{Kind: carrier.Received, Handle: handle}, from, dst})
		return false, nil
	}
	return true, nil
}

// arrive has a message come, as a cell of the kind that its length asks for.
func (s *scripted) arrive(from int32, context uint32, tag int32, data []byte) {
	e := &carrier.Event{Kind: carrier.Arrived}
	c := &e.Cell
	c.Kind, c.Source, c.Context, c.Tag, c.Length = carrier.Inline, from, context, tag, uint32(len(data))
	if len(data) <= ring.Inline {
		copy(c.Inline[:], data)
	} else {
		s.last++
		s.kept[s.last] = data
		c.Kind = carrier.Kept
		if len(data) > 100 {
			c.Kind = carrier.Offer
		}
		carrier.SetWords(c, [3]uint64{s.last, 0, uint64(len(data))})
	}
	s.events = append(s.events, e)
}

// end ends the transfers for which is is true.
func (s *scripted) end(is func(t *transfer) bool) {
	var left []transfer
	for _, t := range s.under {
		if !is(&t) {
			left = append(left, t)
			continue
		}
		t.end.Lost = s.gone[t.peer]
		if !t.end.Lost {
			copy(t.dst, t.from)
		}
		s.events = append(s.events, t.end)
	}
	s.under = left
}

// leave has a rank go.
func (s *scripted) leave(rank int) {
	if s.gone[rank] {
		return
	}
	s.gone[rank] = true
	s.end(func(t *transfer) bool { return t.peer == rank })
	s.events = append(s.events, &carrier.Event{Kind: carrier.Gone, First: rank, Ranks: 1})
}

// A script is the fuzzer's bytes; after their end it is zeros.
type script []byte

func (s *script) byte() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

// word takes one of the words that mean something somewhere, or any.
func (s *script) word() uint64 {
	words := [...]uint64{0, 1, 2, 8, 16, 104, 200, 1 << 32, 1<<32 | 1, 3<<32 | 1, 8<<32 | 5, 1 << 31, 1<<63 - 1, 1 << 63, 1<<64 - 8, 1<<64 - 1}
	if i := int(s.byte()); i < 240 {
		return words[i%len(words)]
	}
	var w [wordSize]byte
	for i := range w {
		w[i] = s.byte()
	}
	return binary.LittleEndian.Uint64(w[:])
}

// tag takes one of the engine's own, or any.
func (s *script) tag() int32 {
	if i := int32(s.byte()); i < 200 {
		return tagAsk + i%(tagRun-tagAsk+1)
	}
	return int32(s.word())
}

// payload takes a head, or data of some length.
func (s *script) payload() []byte {
	kind := s.byte()
	if kind < 160 {
		var o op
		o.setHead(head{s.word(), s.word(), s.word(), s.word(), s.word()})
		return o.cell.Inline[:]
	}
	return bytes.Repeat([]byte{s.byte()}, 2*int(kind-160))
}

// Contract: whatever other processes send in place of active messages, asks, answers and data, in whatever order, and
// whenever they are gone, nothing but the region and the buffers of accesses is written, and every access ends, with
// an error that says why. Handlers that are not here are the only reason for a panic, which names the sender.
func FuzzAccesses(f *testing.F) {
	const answered, dataOf, runOf, from1, from2, theFirst, made = tagAnswer - tagAsk, tagData - tagAsk, tagRun - tagAsk, 0, 1, 7, 9
	const fourOf8, fourOf1, threes, noLength, noTag = 10, 8, 9, 1, 11                                             // heads of runs
	message := func(from, tag byte, words ...byte) []byte { return append([]byte{0, from, 0, tag, 0}, words...) } // words are of script.word
	data := func(half byte) []byte { return []byte{0, from2, 0, dataOf, 160 + half, 9} }
	access := func(kind, words byte) []byte { return []byte{3, kind, words - 1, 1} }
	gone, ends := []byte{4, from2}, []byte{5, 255}
	toHandler := append([]byte{0, from2, 0, 255, 255, 0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0}, 160+90, 1)
	for _, parts := range [][][]byte{
		{message(from2, accessPut, 1, 3, 3, 0, 0), data(4)},
		{message(from2, accessPut, 1, 3, 3, 0, 0), data(5)},                                               // more than the head says
		{message(from2, accessPut, 2, 3, 3, 0, 0), data(4), data(4)},                                      // no such region
		{message(from2, accessPut, 1, 0, 5, 0, 0), data(52), ends},                                        // as long as the region, and offered
		{message(from2, accessPut, 1, 0, 5, 0, 0), data(52), gone},                                        // and lost
		{message(from2, accessPut, 1, 0, 5, 0, 0), gone},                                                  // without data
		{message(from2, accessPutSignal, 1, 0, 3, 0, 2), data(4)},                                         // its handler is here
		{message(from2, accessPutSignal, 1, 0, 3, 0, 1), data(4)},                                         // and is not
		{message(from2, accessGet, 1, 0, 5, 0, 0), ends, message(from2, accessGet, 1, 6, 5, 0, 0)},        // all, and what is outside
		{message(from2, accessFetchAdd, 1, 3, 1, 0, 0), message(from1, accessCompareSwap, 1, 1, 1, 0, 1)}, // the second one is not aligned
		{access(accessGet, 1), message(from2, answered, theFirst, 0, 0, 0, 0), data(4)},
		{access(accessGet, 30), message(from2, answered, theFirst, 0, 0, 0, 0), data(95), ends},
		{access(accessFetchAdd, 1), message(from1, answered, theFirst, 0, 3, 0, 0), message(from2, answered, theFirst, 0, 3, 0, 0)},
		{access(accessPut, 10), message(from2, answered, made, 0, 0, 0, 0), gone},
		{toHandler, toHandler, ends},
		{message(from1, runOf, fourOf8, 1, 2, 3, 4), message(from2, runOf, fourOf8, 5, 6, 7, 8)},
		{message(from1, runOf, fourOf1, 0, 0, 0, 0), message(from1, runOf, threes, 0, 0, 0, 0)}, // too many, and a rest
		{message(from1, runOf, noLength, 0, 0, 0, 0), message(from1, runOf, noTag, 0, 0, 0, 0)},
		{{0, from2, 0, runOf, 160 + 25, 9}},                                                             // not in a cell
		{message(from2, accessPut, 1, 3, 3, 0, 0), message(from2, runOf, fourOf8, 1, 2, 3, 4), data(4)}, // in the midst
	} {
		f.Add(bytes.Join(parts, nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &scripted{kept: map[uint64][]byte{}}
		handler := func(*Port, Envelope, []byte) {}
		fabric, err := New(Options{Carrier: s, Packets: 1, Handlers: []Handler{handler, nil, handler}})
		require.NoError(t, err)
		p := fabric.Port(0)
		memory := newGuarded(104)
		region := register(t, p, memory.inner)
		buffers := []guarded{memory}
		var requests []Request
		for range 3 {
			b := newGuarded(5)
			_, err := p.Irecv(b.inner, Envelope{Peer: AnySource, Tag: AnyTag})
			require.NoError(t, err)
			buffers = append(buffers, b)
		}
		for in := script(b); len(in) > 0; {
			switch in.byte() % 6 {
			case 0, 1, 2:
				from := 1 + int32(in.byte()&1)
				context, tag, data := uint32(in.byte()), in.tag(), in.payload()
				if !s.gone[from] {
					s.arrive(from, context, tag, data)
				}
			case 3:
				buffer, r, err := start(p, &in)
				if err == nil {
					requests = append(requests, r)
					buffers = append(buffers, buffer)
				}
			case 4:
				s.leave(1 + int(in.byte()&1))
			case 5:
				which := in.byte()
				s.end(func(*transfer) bool { which = which>>1 | which<<7; return which&1 != 0 })
			}
			progress(t, p)
		}
		s.leave(1)
		s.leave(2)
		for len(s.events) > 0 {
			progress(t, p)
		}
		for _, r := range requests {
			_, done, err := r.Test()
			require.True(t, done, "an access does not end")
			var gone *carrier.GoneError
			require.True(t, err == nil || errors.Is(err, ErrNoRegion) || errors.As(err, &gone), "%v", err)
		}
		for _, b := range buffers {
			b.check(t)
		}
		require.Empty(t, p.calls.late, "handlers wait for ever")
		require.Empty(t, p.far.coming, "data are waited for that cannot come")
		require.Zero(t, region.users.Load(), "accesses are under way for ever")
		require.NoError(t, region.Free())
		require.NoError(t, fabric.Close())
	})
}

// start starts an access of a region of another rank.
func start(p *Port, in *script) (buffer guarded, r Request, err error) {
	var key Key
	kind := in.byte()
	buffer = newGuarded(wordSize * (1 + int(in.byte()%30)))
	binary.LittleEndian.PutUint32(key[0:], 1+uint32(in.byte()&1))
	binary.LittleEndian.PutUint64(key[8:], 1)
	binary.LittleEndian.PutUint64(key[16:], 1<<20)
	a := access{kind: int32(kind) % accessKinds, key: key, buf: buffer.inner}
	if isOfWord(a.kind) {
		a.buf = a.buf[:wordSize]
	}
	r, err = p.access(a)
	return buffer, r, err
}

// progress handles what has come. A handler that is not here is the only reason for a panic.
func progress(t *testing.T, p *Port) {
	defer func() {
		if what := recover(); what != nil {
			said := fmt.Sprint(what)
			if !strings.HasPrefix(said, "port 0: port 1 invokes handler ") && !strings.HasPrefix(said, "port 0: port 2 invokes handler ") {
				panic(what)
			}
			require.Contains(t, said, "which is not here")
			p.calls.running = false // else nothing would run any more
		}
	}()
	p.Progress()
}

// guarded is a buffer between bytes that nobody writes.
type guarded struct{ all, inner []byte }

const guard = 64

func newGuarded(size int) guarded {
	all := bytes.Repeat([]byte{0xa5}, size+2*guard)
	return guarded{all, all[guard : guard+size]}
}

func (g guarded) check(t *testing.T) {
	for i, b := range g.all {
		if i < guard || i >= guard+len(g.inner) {
			require.EqualValues(t, 0xa5, b, "byte %d of %d", i-guard, len(g.inner))
		}
	}
}
