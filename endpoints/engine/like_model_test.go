// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// Random sends, receives, probes and cancels, with wildcards and all sizes, do exactly
// what the model does. One thread drives all ports, so that there is one answer; in
// model Offload another thread executes them when it will, and there is none. TPSL_TEST_LARGE=1 has ten times as many.
func TestLikeTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	models := slices.DeleteFunc(Models(), func(m Model) bool { return m == Offload })
	for _, model := range models {
		for _, matcher := range []match.Kind{match.HashTable, match.TwoQueues} {
			f := fabric(t, Options{
				Ports: 3, Matcher: matcher, Eager: 100, Packets: 2, // so few that sends change their way
				Model: model, Halves: []int{-1, 1}[random.IntN(2)],
			})
			d := &driver{t: t, random: random, f: f, model: make([]modelPort, f.Size())}
			for range testsupport.Times(700, 7000) {
				d.step()
			}
		}
	}
}

// A driver does the same to a fabric and to the model.
type driver struct {
	t      *testing.T
	random *rand.Rand
	f      *Fabric
	model  []modelPort
	live   []*driven
}

// driven is one operation in both.
type driven struct {
	Request
	*modelOp
	at   int // the port whose lists of the model have it
	kind kind
	buf  []byte
}

func (d *driver) step() {
	switch n := d.random.IntN(100); {
	case n < 30:
		d.send(1)
	case n < 40:
		d.send(3 + d.random.IntN(8))
	case n < 70:
		d.receive(1)
	case n < 80:
		d.receive(3 + d.random.IntN(8))
	case n < 90:
		d.probe()
	case len(d.live) > 0:
		l := d.live[d.random.IntN(len(d.live))]
		require.NoError(d.t, l.Cancel())
		d.model[l.at].cancel(l.modelOp)
	}
	for range 2 {
		for i := range d.f.Size() {
			poll(d.f.Port(i))
		}
	}
	d.check()
}

// envelope is one of few, so that there is always a choice.
func (d *driver) envelope(wildcards bool) Envelope {
	e := Envelope{Context: uint32(d.random.IntN(2)), Peer: int32(d.random.IntN(3)), Tag: int32(d.random.IntN(3))}
	if wildcards && d.random.IntN(4) == 0 {
		e.Peer = AnySource
	}
	if wildcards && d.random.IntN(4) == 0 {
		e.Tag = AnyTag
	}
	return e
}

// send sends so many at once, in runs of one length.
func (d *driver) send(count int) {
	from, e := d.random.IntN(3), d.envelope(false)
	var bufs [][]byte
	var ids []byte
	for length := 0; len(bufs) < count; {
		if len(bufs) == 0 || d.random.IntN(10) == 0 {
			length = []int{0, 8, 40, 41, 100, 101, 300}[d.random.IntN(7)]
		}
		ids = append(ids, byte(d.random.Uint32()))
		bufs = append(bufs, pattern(length, ids[len(bufs)]))
	}
	requests := d.start(d.f.Port(from).IsendAll, d.f.Port(from).Isend, bufs, e)
	to := int(e.Peer)
	e.Peer = int32(from)
	for i, r := range requests {
		l := &driven{Request: r, buf: bufs[i], kind: opSend, at: to}
		l.modelOp = &modelOp{e: e, length: len(bufs[i]), id: ids[i], buffered: l.done()} // a packet may be free or not
		d.model[to].arrive(l.modelOp)
		d.live = append(d.live, l)
	}
}

func (d *driver) receive(count int) {
	at, e := d.random.IntN(3), d.envelope(true)
	bufs := make([][]byte, count)
	for i := range bufs {
		bufs[i] = make([]byte, d.random.IntN(400))
	}
	for i, r := range d.start(d.f.Port(at).IrecvAll, d.f.Port(at).Irecv, bufs, e) {
		l := &driven{Request: r, buf: bufs[i], kind: opReceive, at: at}
		l.modelOp = &modelOp{e: e, length: len(l.buf)}
		d.model[at].post(l.modelOp)
		d.live = append(d.live, l)
	}
}

// start starts operations by one call, or one by a call of its own.
func (d *driver) start(all func([][]byte, Envelope, []Request) error, one func([]byte, Envelope) (Request, error), bufs [][]byte, e Envelope) []Request {
	requests := make([]Request, len(bufs))
	var err error
	if len(bufs) > 1 {
		err = all(bufs, e, requests)
	} else {
		requests[0], err = one(bufs[0], e)
	}
	require.NoError(d.t, err)
	return requests
}

func (d *driver) probe() {
	at, e := d.random.IntN(3), d.envelope(true)
	s, found, err := d.f.Port(at).Iprobe(e)
	require.NoError(d.t, err)
	m := d.model[at].probe(e)
	require.Equal(d.t, m != nil, found, "%v", e)
	if found {
		require.Equal(d.t, Status{Envelope: m.e, Bytes: m.length}, s)
	}
}

// check compares what is done, and how it ended.
func (d *driver) check() {
	left := d.live[:0]
	for _, l := range d.live {
		require.Equal(d.t, l.ended, l.Request.done(), "%+v", l.modelOp)
		if !l.ended {
			left = append(left, l)
			continue
		}
		s, err := l.Wait()
		if l.kind == opSend {
			require.Equal(d.t, l.cancelled, sameError(err, ErrCancelled))
			continue
		}
		want, wantErr := l.end()
		require.ErrorIs(d.t, err, wantErr)
		if !l.cancelled {
			require.Equal(d.t, want, s)
			require.True(d.t, bytes.Equal(pattern(s.Bytes, l.partner.id), l.buf[:s.Bytes]))
		}
	}
	d.live = left
}
