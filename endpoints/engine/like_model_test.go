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
)

// Random sends, receives, probes and cancels, with wildcards and all sizes, do exactly
// what the model does. One thread drives all ports, so that there is one answer; in
// model Offload another thread executes them when it will, and there is none.
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
			for range 2000 {
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
	case n < 40:
		d.send()
	case n < 80:
		d.receive()
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

func (d *driver) send() {
	from, e := int32(d.random.IntN(3)), d.envelope(false)
	to, id := int(e.Peer), byte(d.random.Uint32())
	length := []int{0, 8, 40, 41, 100, 101, 300}[d.random.IntN(7)]
	l := &driven{buf: pattern(length, id), kind: opSend, at: to}
	var err error
	l.Request, err = d.f.Port(int(from)).Isend(l.buf, e)
	require.NoError(d.t, err)
	e.Peer = from
	l.modelOp = &modelOp{e: e, length: length, id: id, buffered: l.done()} // a packet may be free or not
	d.model[to].arrive(l.modelOp)
	d.live = append(d.live, l)
}

func (d *driver) receive() {
	at, e := d.random.IntN(3), d.envelope(true)
	l := &driven{buf: make([]byte, d.random.IntN(400)), kind: opReceive, at: at}
	var err error
	l.Request, err = d.f.Port(at).Irecv(l.buf, e)
	require.NoError(d.t, err)
	l.modelOp = &modelOp{e: e, length: len(l.buf)}
	d.model[at].post(l.modelOp)
	d.live = append(d.live, l)
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
