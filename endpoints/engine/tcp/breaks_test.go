// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// seeded returns random numbers whose seed is told, and may be given again.
func seeded(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TPSL_TEST_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TPSL_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A talker sends numbered messages to all peers and checks all that come: their order, number and bytes.
type talker struct {
	p        carrier.Port
	rank     int
	node     carrier.Carrier
	die      func()
	breaks   func(peer int) bool // breaks what joins it to a peer of which a message has come, now and then; nil: it does not
	random   *rand.Rand
	near     []bool // by rank: it talks more with those, in bursts
	next     []int  // by rank: the number of the next message to it
	expected []int  // by rank: that of the next one from it
	outgoing map[uint64]underWay
	coming   map[uint64]underWay // by handle: what is being received, twice as long: what it should be stands behind it
	handles  uint64
	fetched  int           // messages whose bytes were compared
	full     int           // sends that found no room
	broken   int           // what breaks has broken
	moody    time.Duration // how long it has nothing to say to a peer, at most, now and then
	silent   []time.Time   // by rank: until then
	large    int           // of a thousand messages, so many more are large
	dies     int           // its process ends when it has fetched so many; 0: it does not
	mortal   []bool        // by rank: its process ends
	gone     []bool        // by rank: that is told
}

// underWay is a message that is sent or received.
type underWay struct {
	peer int
	buf  []byte
}

func newTalker(n carrier.Carrier, seed uint64) *talker {
	rank, _ := n.Ranks()
	size := n.Size()
	return &talker{
		p: n.Port(rank), rank: rank, node: n, random: rand.New(rand.NewPCG(seed, uint64(rank))), next: make([]int, size), expected: make([]int, size),
		outgoing: map[uint64]underWay{}, coming: map[uint64]underWay{}, silent: make([]time.Time, size),
		near: make([]bool, size), mortal: make([]bool, size), gone: make([]bool, size),
	}
}

func (k *talker) number(from, to, index int) uint64 {
	return uint64(from)<<48 | uint64(to)<<32 | uint64(index)
}

// size is that of a message: most are short.
func (k *talker) size() int {
	switch kind := k.random.IntN(1000); {
	case kind <= k.large:
		return k.random.IntN(1 << 20)
	case kind <= k.large+9:
		return k.random.IntN(64 << 10)
	}
	return k.random.IntN(100)
}

// How many messages it exchanges with a peer that is near, where it exchanges one with others, and how many of them may be a burst.
const (
	nearTimes = 20
	burst     = 200
)

// talk sends so many messages to each peer, and takes as many of each. To the mortal ones it sends until it hears that they are
// gone: a peer to which there is no connection any more may end without a word.
func (k *talker) talk(count int) error {
	for {
		busy, over := false, true
		for to := range k.next {
			if to == k.rank || k.gone[to] {
				continue
			}
			if k.dies > 0 && k.fetched >= k.dies {
				k.die()
				return nil
			}
			count, atOnce := count, 1
			if k.near[to] {
				count, atOnce = nearTimes*count, 1+k.random.IntN(burst)
			}
			if k.next[to] < count || k.mortal[to] {
				over = false
				for sent := true; sent && atOnce > 0 && (k.next[to] < count || k.mortal[to]); atOnce-- {
					var err error
					if sent, err = k.send(to); err != nil {
						return err
					}
					busy = busy || sent
					if sent && k.next[to] > count { // only to hear of its end
						k.silent[to] = time.Now().Add(10 * time.Millisecond)
					}
				}
			}
			over = over && k.expected[to] == count
		}
		if over && len(k.outgoing)+len(k.coming) == 0 {
			return nil
		}
		var e carrier.Event
		for k.p.Poll(&e) {
			busy = true
			if err := k.handle(&e); err != nil {
				return err
			}
		}
		if !busy {
			if err := k.sleep(); err != nil {
				return err
			}
		}
	}
}

// sleep sleeps until something comes, not for long: nobody rings when there is room to send.
func (k *talker) sleep() error {
	var e carrier.Event
	since := k.p.Doze()
	if k.p.Poll(&e) {
		k.p.Rouse()
		return k.handle(&e)
	}
	k.p.Sleep(since, time.Millisecond)
	return nil
}

func (k *talker) send(to int) (sent bool, err error) {
	if len(k.outgoing) > 20 || time.Now().Before(k.silent[to]) {
		return false, nil
	}
	if k.moody > 0 && k.random.IntN(20) == 0 {
		k.silent[to] = time.Now().Add(time.Duration(k.random.Int64N(int64(k.moody))))
	}
	buf := carriertest.Fill(make([]byte, k.size()), k.number(k.rank, to, k.next[to]))
	k.handles++
	how, err := k.p.Send(to, 3, int32(k.next[to]), buf, k.handles)
	switch {
	case err != nil && k.mortal[to]:
		return false, nil // Poll will say it
	case err != nil:
		return false, fmt.Errorf("rank %d: message %d to %d: %w", k.rank, k.next[to], to, err)
	case how == carrier.Full:
		k.full++
		return false, nil
	case how == carrier.Pending:
		k.outgoing[k.handles] = underWay{to, buf}
	default:
		clear(buf) // it may be used again
	}
	k.next[to]++
	return true, nil
}

func (k *talker) handle(e *carrier.Event) error {
	switch e.Kind {
	case carrier.Arrived:
		from, size := int(e.Cell.Source), carrier.Bytes(&e.Cell)
		if int(e.Cell.Tag) != k.expected[from] || e.Cell.Context != 3 {
			return fmt.Errorf("rank %d: message %d of rank %d came, not %d", k.rank, e.Cell.Tag, from, k.expected[from])
		}
		buf := make([]byte, 2*size)
		carriertest.Fill(buf[size:], k.number(from, k.rank, k.expected[from]))
		k.expected[from]++
		if k.breaks != nil && !k.near[from] && k.random.IntN(50) == 0 && k.breaks(from) {
			k.broken++
		}
		k.handles++
		done, err := k.p.Fetch(&e.Cell, buf[:size:size], k.handles)
		if err != nil && k.mortal[from] {
			return nil
		}
		if err != nil {
			return err
		}
		if done {
			return k.compare(buf)
		}
		k.coming[k.handles] = underWay{from, buf}
	case carrier.Sent:
		x, found := k.outgoing[e.Handle]
		if !found || e.Lost && !k.mortal[x.peer] {
			return fmt.Errorf("rank %d: a send that was lost, or ended twice", k.rank)
		}
		clear(x.buf)
		delete(k.outgoing, e.Handle)
	case carrier.Received:
		x, found := k.coming[e.Handle]
		if !found || e.Lost && !k.mortal[x.peer] {
			return fmt.Errorf("rank %d: a receive that was lost, or ended twice", k.rank)
		}
		delete(k.coming, e.Handle)
		if !e.Lost {
			return k.compare(x.buf)
		}
	case carrier.Gone:
		if !k.mortal[e.First] || k.gone[e.First] {
			return fmt.Errorf("rank %d: %w", k.rank, k.node.Gone(e.First))
		}
		k.gone[e.First] = true
	}
	return nil
}

func (k *talker) compare(buf []byte) error {
	k.fetched++
	if !bytes.Equal(buf[:len(buf)/2], buf[len(buf)/2:]) {
		return fmt.Errorf("rank %d: a message of %d bytes with other bytes than were sent", k.rank, len(buf)/2)
	}
	return nil
}

// Nothing is lost, doubled, overtaken or changed while connections break, again and again: with
// what is on its way lost or not, of either side, or both. TPSL_TEST_LARGE=1 sends 10^7 messages.
func TestBreaks(t *testing.T) {
	testsupport.NothingLeft(t)
	random := seeded(t)
	count := testsupport.Times(50_000, 1_700_000) // each to each of two
	if raceDetector {
		count /= 10
	}
	nodes := joined(t, Options{}, 1, 1, 1)
	breaks := talkBroken(t, nodes, random, count, 0, 4*time.Millisecond)
	require.Positive(t, breaks)
}

// talkBroken has each of three nodes send so many messages to each of the others, moody ones, while their connections break at random,
// with pauses of less than the given one between. It returns how often they broke.
func talkBroken(t *testing.T, nodes []*Node, random *rand.Rand, count int, moody, pause time.Duration) (breaks int) {
	t.Helper()
	var talkers []*talker
	var all sync.WaitGroup
	errs := make([]error, len(nodes))
	for i, n := range nodes {
		k := newTalker(n, random.Uint64())
		k.moody = moody
		talkers = append(talkers, k)
		all.Go(func() { errs[i] = k.talk(count) })
	}
	var over atomic.Bool
	go func() {
		all.Wait()
		over.Store(true)
	}()
	for !over.Load() {
		if l := nodes[random.IntN(len(nodes))].links[random.IntN(len(nodes))]; l != nil && l.sever(random.IntN(2) == 0) {
			breaks++
		}
		time.Sleep(time.Duration(random.Int64N(int64(pause))))
	}
	total := 0
	for i, k := range talkers {
		require.NoError(t, errs[i])
		total += k.fetched
	}
	require.Equal(t, 6*count, total)
	t.Logf("%d messages, %d breaks, %d connections made", total, breaks, made(nodes))
	return breaks
}

// made is how many connections nodes have made among them.
func made(nodes []*Node) (connections uint64) {
	for _, n := range nodes {
		for _, l := range n.links {
			if l != nil && l.dials() {
				l.out.Lock()
				connections += l.connections
				l.out.Unlock()
			}
		}
	}
	return connections
}
