// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/internal/testsupport"
)

func init() {
	shm.Roles["exchange"] = func(n *shm.Node, words []string, out func(string, ...any)) {
		x, err := newExchange(n, words)
		if err == nil {
			err = x.run()
		}
		out("%d received, %v", x.received, err)
	}
	shm.Roles["wait"] = func(n *shm.Node, _ []string, out func(string, ...any)) {
		out("%v", waitForAll(n))
	}
	shm.Roles["idle"] = func(_ *shm.Node, _ []string, out func(string, ...any)) {
		out("idle")
		time.Sleep(time.Minute)
	}
}

// An exchange is one rank's part of a test in which each sends so many messages to each
// other one, and checks all that it gets: number, order, length and every byte.
type exchange struct {
	port     *engine.Port
	rank     int
	size     int
	count    int
	seed     uint64
	received int
	sent     []int // by rank
	expected []int // by rank
	outgoing []engine.Request
	incoming []engine.Request
	buffers  [][]byte // of incoming, in turn
	next     int      // the buffer of incoming[0]
}

const (
	postedReceives = 8
	postedSends    = 32
	largest        = 512 << 10
)

func newExchange(n *shm.Node, words []string) (*exchange, error) {
	f, err := engine.New(engine.Options{Carrier: n})
	if err != nil {
		return nil, err
	}
	rank, _ := n.Ranks()
	x := &exchange{port: f.Port(rank), rank: rank, size: n.Size(), sent: make([]int, n.Size()), expected: make([]int, n.Size())}
	x.count, _ = strconv.Atoi(words[0])
	x.seed, _ = strconv.ParseUint(words[1], 10, 64)
	for range postedReceives {
		x.buffers = append(x.buffers, make([]byte, largest))
	}
	return x, nil
}

// message returns what a rank sends to another as its message of that number.
func (x *exchange) message(from, to, number int) []byte {
	id := x.seed + uint64(from)<<48 + uint64(to)<<32 + uint64(number)
	r := rand.New(rand.NewPCG(id, 0))
	size := 0
	switch p := r.IntN(1000); {
	case p < 2:
		size = r.IntN(largest)
	case p < 20:
		size = r.IntN(40 << 10)
	case p < 100:
		size = r.IntN(8 << 10)
	default:
		size = r.IntN(200)
	}
	return carriertest.Fill(make([]byte, size), id)
}

func (x *exchange) run() error {
	total := x.count * (x.size - 1)
	posted := 0
	for x.received < total || len(x.outgoing) > 0 {
		for ; posted < total && len(x.incoming) < postedReceives; posted++ {
			r, err := x.port.Irecv(x.buffers[posted%postedReceives], engine.Envelope{Peer: engine.AnySource, Tag: engine.AnyTag})
			if err != nil {
				return err
			}
			x.incoming = append(x.incoming, r)
		}
		all, err := x.sendNext()
		if err != nil {
			return err
		}
		if all && len(x.incoming) > 0 {
			s, err := x.incoming[0].Wait()
			if err := x.check(s, err); err != nil {
				return err
			}
			continue
		}
		before := len(x.outgoing) + len(x.incoming)
		if err := x.testBoth(); err != nil {
			return err
		}
		if len(x.outgoing) == postedSends && len(x.outgoing)+len(x.incoming) == before {
			time.Sleep(20 * time.Microsecond) // the others may need this CPU
		}
	}
	return nil
}

// sendNext sends one message, to each rank in turn, and tells whether all are sent.
func (x *exchange) sendNext() (all bool, err error) {
	to := -1
	for rank, n := range x.sent {
		if rank != x.rank && n < x.count && (to < 0 || n < x.sent[to]) {
			to = rank
		}
	}
	if to < 0 || len(x.outgoing) == postedSends {
		return to < 0, nil
	}
	r, err := x.port.Isend(x.message(x.rank, to, x.sent[to]), engine.Envelope{Peer: int32(to), Tag: int32(x.sent[to])})
	x.sent[to]++
	x.outgoing = append(x.outgoing, r)
	return false, err
}

// testBoth takes the ends of the oldest send and the oldest receive, if they have come.
func (x *exchange) testBoth() error {
	if len(x.outgoing) > 0 {
		if _, done, err := x.outgoing[0].Test(); done {
			if err != nil {
				return err
			}
			x.outgoing = x.outgoing[1:]
		}
	}
	if len(x.incoming) > 0 {
		if s, done, err := x.incoming[0].Test(); done {
			return x.check(s, err)
		}
	}
	return nil
}

// check looks at the oldest receive's message.
func (x *exchange) check(s engine.Status, err error) error {
	if err != nil {
		return err
	}
	from := int(s.Peer)
	if int(s.Tag) != x.expected[from] {
		return fmt.Errorf("message %d of rank %d instead of %d", s.Tag, from, x.expected[from])
	}
	if want := x.message(from, x.rank, x.expected[from]); !bytes.Equal(want, x.buffers[x.next][:s.Bytes]) {
		return fmt.Errorf("message %d of rank %d has %d bytes, some of them others than the %d sent", s.Tag, from, s.Bytes, len(want))
	}
	x.expected[from]++
	x.received++
	x.next = (x.next + 1) % postedReceives
	x.incoming = x.incoming[1:]
	return nil
}

// 100,008 messages of random lengths between three processes, half of them with each way
// of large ones: none is lost, doubled, overtaken or changed.
func TestProcesses(t *testing.T) {
	testsupport.NothingLeft(t)
	seed := time.Now().UnixNano() >> 20
	t.Logf("seed %d", seed)
	for _, streams := range []bool{false, true} {
		words := fmt.Sprintf("exchange 8334 %d", seed)
		_, children := shm.Together(t, shm.Options{Streams: streams}, words, words, words)
		for _, c := range children {
			assert.Equal(t, "16668 received, <nil>", c.Line())
			assert.Empty(t, c.Wait())
		}
	}
}

// waitForAll waits for a message of rank 0, which never comes, in every way there is.
func waitForAll(n *shm.Node) error {
	f, err := engine.New(engine.Options{Carrier: n})
	if err != nil {
		return err
	}
	rank, _ := n.Ranks()
	p := f.Port(rank)
	from := engine.Envelope{Peer: 0}
	var requests []engine.Request
	for range 3 {
		r, err := p.Irecv(make([]byte, 10), from)
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	large, err := p.Isend(make([]byte, 1<<20), from)
	if err != nil {
		return err
	}
	errs := []error{}
	_, err = requests[0].Wait()
	errs = append(errs, err)
	_, _, err = engine.WaitAny(requests[1:2])
	errs = append(errs, err, engine.WaitAll([]engine.Request{large, requests[2]}, nil))
	_, err = p.Recv(nil, from)
	errs = append(errs, err, p.Send(nil, from))
	for _, err := range errs {
		if !errors.Is(err, carrier.ErrPeerGone) {
			return fmt.Errorf("not of a peer that is gone: %w", err)
		}
	}
	return errors.Join(errs[0], errs[4])
}

// A rank that is killed is named by whatever waits for it in the engine.
func TestEngineNamesTheDead(t *testing.T) {
	testsupport.NothingLeft(t)
	_, children := shm.Together(t, shm.Options{}, "idle", "wait", "wait")
	require.Equal(t, "idle", children[0].Line())
	time.Sleep(50 * time.Millisecond) // the others may be asleep by now, or not
	children[0].Kill()
	for _, c := range children[1:] {
		for range 2 {
			assert.Regexp(t, `^rank 0 is gone: its process \d+ has ended$`, c.Line())
		}
		assert.Empty(t, c.Wait())
	}
}
