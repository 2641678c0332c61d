// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A talker sends messages of random lengths to all others, and looks at what they send: each comes once, in its place and
// whole. A message's tag is its number, by which receiver and sender know its length and content.
type talker struct {
	p      *Port
	others []int
	random *rand.Rand
}

func lengthOf(from, to, number int) int {
	r := rand.New(rand.NewPCG(uint64(from<<16|to), uint64(number)))
	switch r.IntN(10) {
	case 0:
		return r.IntN(200_000)
	case 1, 2:
		return r.IntN(10_000)
	}
	return r.IntN(100)
}

func messageOf(from, to, number int) []byte {
	return carriertest.Fill(make([]byte, lengthOf(from, to, number)), uint64(from<<40|to<<32|number))
}

// talk sends so many messages to each other, and takes as many of each.
func (k *talker) talk(count int) error {
	sent, came := map[int]int{}, map[int]int{}
	pending, coming := 0, map[uint64][2]int{} // by handle: from whom, which
	into := map[uint64][]byte{}
	handle := uint64(0)
	last := time.Now()
	for e := new(carrier.Event); ; {
		over, moved := true, false
		for _, to := range k.others {
			if sent[to] < count {
				over = false
				outcome, err := k.p.Send(to, 7, int32(sent[to]), messageOf(int(k.p.rank), to, sent[to]), uint64(to))
				if err != nil {
					return err
				}
				if outcome == carrier.Pending {
					pending++
				}
				if outcome != carrier.Full {
					sent[to]++
					moved = true
				}
			}
			over = over && came[to] == count
		}
		if over && pending == 0 && len(coming) == 0 {
			return nil
		}
		for k.p.Poll(e) {
			moved = true
			switch e.Kind {
			case carrier.Sent:
				pending--
			case carrier.Received:
				m := coming[e.Handle]
				if !bytes.Equal(into[e.Handle], messageOf(m[0], int(k.p.rank), m[1])) {
					return fmt.Errorf("message %d of rank %d has changed", m[1], m[0])
				}
				delete(coming, e.Handle)
				delete(into, e.Handle)
			case carrier.Gone:
				return k.p.node.Gone(e.First)
			case carrier.Arrived:
				from, number := int(e.Cell.Source), int(e.Cell.Tag)
				if number != came[from] || carrier.Bytes(&e.Cell) != lengthOf(from, int(k.p.rank), number) {
					return fmt.Errorf("rank %d: message %d of %d bytes of rank %d, not %d", k.p.rank, number, carrier.Bytes(&e.Cell), from, came[from])
				}
				came[from]++
				handle++
				dst := make([]byte, carrier.Bytes(&e.Cell))
				done, err := k.p.Fetch(&e.Cell, dst, handle)
				if err != nil {
					return err
				}
				if !done {
					coming[handle], into[handle] = [2]int{from, number}, dst
				} else if !bytes.Equal(dst, messageOf(from, int(k.p.rank), number)) {
					return fmt.Errorf("message %d of rank %d has changed", number, from)
				}
			}
		}
		if moved {
			last = time.Now()
		} else if time.Since(last) > carriertest.Within {
			return errors.New("nothing moves")
		} else if k.random.IntN(10) == 0 {
			since := k.p.Doze()
			k.p.Sleep(since, time.Millisecond)
		}
	}
}

// Several processes of one to three ranks, and as many rails, send all to all at once: nothing is lost, doubled, overtaken or changed, though
// slots and windows are few.
func TestAllTalkToAll(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Run("one rail", func(t *testing.T) { allTalk(t, joined(t, Options{Window: 40_000}, 1, 2, 1), 300) })
	t.Run("rails", func(t *testing.T) {
		allTalk(t, joinedByRails(t, Options{Window: 40_000, Slots: 100}, []int{2, 3, 1}, 2, 3, 1), 100)
	})
}

func allTalk(t *testing.T, nodes []*Node, count int) {
	t.Helper()
	var ports []*Port
	for _, n := range nodes {
		ports = append(ports, n.ports...)
	}
	var all sync.WaitGroup
	errs := make([]error, len(ports))
	for i, p := range ports {
		k := talker{p: p, random: rand.New(rand.NewPCG(1, uint64(i)))}
		for to := range ports {
			if nodes[0].places[to] != nodes[0].places[i] {
				k.others = append(k.others, to)
			}
		}
		all.Go(func() { errs[i] = k.talk(count) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, n := range nodes {
		for _, l := range n.links {
			if l == nil {
				continue
			}
			for _, a := range l.lanes {
				a.lock.Lock() // a thread that has told the end of a message may have to drop it yet
				a.sends.Used(func(uint64, *send) { assert.Fail(t, "a send is left") })
				a.receives.Used(func(uint64, *receive) { assert.Fail(t, "a receive is left") })
				a.lock.Unlock()
			}
		}
	}
}

// Two that begin to talk to each other at the same moment have one pair of queue pairs, and all comes in order.
func TestSimultaneousOpens(t *testing.T) {
	testsupport.NothingLeft(t)
	for range 10 {
		nodes := joined(t, Options{}, 1, 1)
		var all sync.WaitGroup
		start := make(chan struct{})
		for rank := range 2 {
			all.Go(func() {
				<-start
				p := nodes[rank].port(rank)
				for i := range 5 {
					mustSend(t, p, 1-rank, int32(i), binary.LittleEndian.AppendUint32(nil, uint32(i)), 0)
				}
				for i := range 5 {
					assert.EqualValues(t, i, carriertest.Await(t, p).Cell.Tag)
				}
			})
		}
		close(start)
		all.Wait()
		carriertest.CloseAll(t, nodes)
	}
}

// A port that takes nothing is sent a window of messages and no more: then its senders wait, and other ports of its
// process are not concerned.
func TestWindow(t *testing.T) {
	testsupport.NothingLeft(t)
	const window = 64 << 10
	nodes := joined(t, Options{Window: window}, 1, 2)
	a, deaf, other := nodes[0].port(0), nodes[1].port(1), nodes[1].port(2)
	sent := 0
	e := new(carrier.Event)
	mustSend(t, a, 1, 0, make([]byte, 1000), 0)
	for idle := 0; idle < 100; {
		outcome, err := a.Send(1, 7, 0, make([]byte, 1000), 0)
		require.NoError(t, err)
		if outcome == carrier.Full {
			idle++
			time.Sleep(time.Millisecond)
		} else {
			sent, idle = sent+1, 0
		}
		require.False(t, a.Poll(e))
		require.False(t, other.Poll(e))
	}
	assert.Less(t, sent, window/64)
	assert.Greater(t, sent, window/1064/2)
	assert.LessOrEqual(t, int(nodes[1].links[0].owed[0].Load()), window)
	mustSend(t, a, 2, 3, []byte("hello"), 0)
	assert.EqualValues(t, 3, carriertest.Await(t, other).Cell.Tag)
	mustSend(t, other, 0, 4, nil, 0)
	assert.EqualValues(t, 4, carriertest.Await(t, a).Cell.Tag)
	for range sent + 1 { // what waits comes when it is taken
		e := carriertest.Await(t, deaf)
		require.Equal(t, carrier.Arrived, e.Kind)
		done, err := deaf.Fetch(&e.Cell, nil, 0)
		require.NoError(t, err)
		require.True(t, done)
	}
	mustSend(t, a, 1, 9, make([]byte, 1000), 0)
	assert.EqualValues(t, 9, carriertest.Await(t, deaf).Cell.Tag)
}

// withoutSweep has nobody look for what has come but ports, and the watch.
func withoutSweep(t *testing.T) {
	before := unpolled
	t.Cleanup(func() { unpolled = before }) // when the nodes are closed
	unpolled = time.Hour
}

// What has come just before the watch waits wakes the port, too.
func TestCameBeforeTheWatch(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	a, b := pair(t, Options{})
	mustSend(t, a, 1, 1, nil, 0)
	for !a.node.links[1].isOver() { // until b's device has it, which nobody has asked yet to tell
		a.node.progressAll()
	}
	begin := time.Now()
	b.Sleep(b.Doze(), carriertest.Within) // without the look that is between, by which b would find it itself
	assert.Less(t, time.Since(begin), carriertest.Within/2)
	assert.EqualValues(t, 1, carriertest.Await(t, b).Cell.Tag)
}

// A message to a port that sleeps wakes it, each time.
func TestNoWakeUpIsLost(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	a, b := pair(t, Options{})
	const rounds = 500
	var all sync.WaitGroup
	bounce := func(p *Port, to int, first bool) {
		for i := range rounds {
			if first || i > 0 {
				mustSend(t, p, to, int32(i), nil, 0)
			}
			e := carriertest.Await(t, p)
			if _, err := p.Fetch(&e.Cell, nil, 0); !assert.NoError(t, err) {
				return
			}
		}
		if !first {
			mustSend(t, p, to, rounds, nil, 0)
		}
	}
	all.Go(func() { bounce(a, 1, true) })
	all.Go(func() { bounce(b, 0, false) })
	all.Wait()
}
