// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

func init() { Roles["talk"] = talk }

// A talker sends messages of random sizes to random peers and checks what it gets, which it
// tells of the first, until its standard input ends. Then it says goodbye to those who are there.
type talker struct {
	p        *Port
	random   *rand.Rand
	stop     atomic.Bool
	next     []int        // by rank: the number of the next message to it
	expected []int        // by rank: the number of the next message from it
	over     map[int]bool // who has said goodbye, or is gone
	gone     []int
	waits    int               // sends that are pending
	coming   map[uint64][]byte // what comes in parts, by handle
	keys     uint64
	total    int
}

const goodbye = -1

func talk(n *Node, words []string, out func(string, ...any)) {
	seed, _ := strconv.ParseUint(words[0], 10, 64)
	rank, _ := n.Ranks()
	t := &talker{
		p: n.port(rank), random: rand.New(rand.NewPCG(seed, uint64(rank))),
		next: make([]int, n.Size()), expected: make([]int, n.Size()),
		over: map[int]bool{rank: true}, coming: map[uint64][]byte{},
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		t.stop.Store(true)
	}()
	for talks := false; !t.stop.Load(); {
		t.sendSome()
		t.pollSome()
		if !talks && t.total > 0 {
			talks = true
			out("talks")
		}
	}
	for to := range t.next {
		for sent := to == rank; !sent && !t.p.Gone(to); t.pollSome() {
			outcome, err := t.p.Send(to, 0, goodbye, nil, 0)
			sent = outcome == carrier.Done || err != nil
		}
	}
	for len(t.over) < n.Size() || t.waits+len(t.coming) > 0 {
		t.pollSome()
	}
	out("gone %v", t.gone)
}

func (t *talker) sendSome() {
	to := t.random.IntN(len(t.next))
	if to == int(t.p.rank) || t.p.Gone(to) || t.waits > 20 {
		return
	}
	size := t.random.IntN(1 << t.random.IntN(18))
	buf := carriertest.Fill(make([]byte, size), t.number(int(t.p.rank), t.next[to]))
	switch outcome, err := t.p.Send(to, 0, int32(t.next[to]), buf, 0); {
	case err != nil:
		return // Poll will tell
	case outcome == carrier.Pending:
		t.waits++
		t.next[to]++
	case outcome == carrier.Done:
		t.next[to]++
	}
}

func (*talker) number(from, index int) uint64 { return uint64(from)<<32 | uint64(index) }

// pollSome polls, and at times sleeps.
func (t *talker) pollSome() {
	var e carrier.Event
	if !t.p.Poll(&e) {
		if t.random.IntN(50) != 0 {
			return
		}
		since := t.p.Doze()
		if !t.p.Poll(&e) {
			t.p.Sleep(since, 2*time.Millisecond)
			return
		}
		t.p.Rouse()
	}
	switch e.Kind {
	case carrier.Arrived:
		t.arrived(&e)
	case carrier.Sent:
		t.waits--
	case carrier.Received:
		want := t.coming[e.Handle]
		delete(t.coming, e.Handle)
		if !e.Lost {
			t.compare(want)
		}
	case carrier.Gone:
		if !t.over[e.First] { // it has not said goodbye
			t.over[e.First] = true
			t.gone = append(t.gone, e.First)
		}
	}
}

// arrived fetches a message; what it should be stands behind it in the buffer.
func (t *talker) arrived(e *carrier.Event) {
	from, size := int(e.Cell.Source), carrier.Bytes(&e.Cell)
	if e.Cell.Tag == goodbye {
		t.over[from] = true
		return
	}
	if int(e.Cell.Tag) != t.expected[from] {
		panic(fmt.Sprintf("message %d of rank %d, not %d", e.Cell.Tag, from, t.expected[from]))
	}
	buf := make([]byte, 2*size)
	carriertest.Fill(buf[size:], t.number(from, t.expected[from]))
	t.expected[from]++
	t.keys++
	done, err := t.p.Fetch(&e.Cell, buf[:size:size], t.keys)
	if done && err == nil {
		t.compare(buf)
	} else if !done {
		t.coming[t.keys] = buf
	}
}

func (t *talker) compare(buf []byte) {
	if !bytes.Equal(buf[:len(buf)/2], buf[len(buf)/2:]) {
		panic("a message with other bytes than were sent")
	}
	t.total++
}

// Whenever one of four is killed, the others hear of it, and all that they say to one
// another comes.
func TestKilledAnywhere(t *testing.T) {
	testsupport.NothingLeft(t)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for round := range 6 {
		words := fmt.Sprintf("talk %d", random.Uint64()>>1)
		_, children := Together(t, Options{Streams: round%2 == 1, Cells: 16}, words, words, words, words)
		for _, c := range children {
			require.Equal(t, "talks", c.Line())
		}
		victim := random.IntN(len(children))
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		children[victim].Kill()
		for i, c := range children {
			if i != victim {
				c.Release()
			}
		}
		for i, c := range children {
			if i != victim {
				assert.Equal(t, fmt.Sprintf("gone [%d]", victim), c.Line(), "rank %d", i)
				assert.Empty(t, c.Wait())
			}
		}
	}
}

// A child that is killed while all join is one that has not come, or one that is gone.
func TestKilledWhileJoining(t *testing.T) {
	testsupport.NothingLeft(t)
	came := 0
	for round := range 20 {
		forMeet, forJoin := sockets(t, 2)
		child := start(t, forJoin[1], Options{First: 1, Ports: 1, Total: 2}, "talk 1")
		forJoin[1].Close() // the child's end is the only one
		ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
		met := make(chan error, 1)
		go func() { met <- Meet(ctx, forMeet) }()
		child.KillLater(time.Duration(round) * time.Millisecond)
		if round%2 == 1 {
			time.Sleep(time.Duration(round) * time.Millisecond) // its hello waits for ours
		}
		n, err := Join(ctx, forJoin[0], Options{Ports: 1, Total: 2})
		cancelled := <-met
		cancel()
		if err != nil {
			assert.EqualError(t, err, "join a node: process 1 left before it joined")
			assert.EqualError(t, cancelled, "process 1 left before it joined")
		} else {
			came++
			assert.NoError(t, cancelled)
			for e := carriertest.Await(t, n.port(0)); e.Kind != carrier.Gone; e = carriertest.Await(t, n.port(0)) {
			}
			require.NoError(t, n.Close())
		}
		child.Kill()
	}
	t.Logf("%d of 20 had joined before they died", came)
}
