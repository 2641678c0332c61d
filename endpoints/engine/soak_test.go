// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// No operation allocates, in any model and however a message travels; of copies by both sides TestSoakOfBothHalves says it.
func TestNoAllocations(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		for _, e := range []Envelope{{}, {Peer: AnySource, Tag: AnyTag}} {
			for _, size := range sizes {
				data, buf := make([]byte, size), make([]byte, size)
				assert.Zero(t, testing.AllocsPerRun(20, func() {
					r, err1 := b.Irecv(buf, e)
					s, err2 := a.Isend(data, Envelope{Peer: 1})
					_, err3 := r.Wait()
					_, err4 := s.Wait()
					s, err5 := a.Isend(data, Envelope{Peer: 1})
					_, err6 := b.Probe(e)
					_, err7 := b.Recv(buf, e)
					_, err8 := s.Wait()
					for _, err := range [...]error{err1, err2, err3, err4, err5, err6, err7, err8} {
						if err != nil {
							t.Fatal(err)
						}
					}
				}), "%d bytes, %v", size, e)
			}
		}
	})
}

// Two threads send each other a great many messages of random sizes under random tags,
// received in another order. None is lost, doubled, changed or overtaken, and none costs
// an allocation. TPSL_TEST_LARGE=1 makes them 10^8.
func TestSoak(t *testing.T) {
	messages := testsupport.Times(40_000, 100_000_000)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, part := range []struct{ ring, messages int }{{32, messages / 20}, {256, messages - messages/20}} {
		f := fabric(t, Options{Ports: 2, Ring: part.ring}) // in the small one sends wait for room
		ports := [2]*Port{f.Port(0), f.Port(1)}
		soak(t, ports, seed, 100) // what grows has grown
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		soak(t, ports, seed+1, part.messages/2/window)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.Mallocs-before.Mallocs, uint64(1000), "for %d messages", part.messages)
		nothingCame(t, ports)
	}
}

// The same over shared memory, as between processes of a host. TPSL_TEST_LARGE=1 makes them 10^8.
func TestSoakOverMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := spanning(t, Options{}, byMemory, 1, 1)
	ports := [2]*Port{f[0].Port(0), f[1].Port(1)}
	soak(t, ports, seed, testsupport.Times(40_000, 100_000_000)/2/window)
	nothingCame(t, ports)
}

func nothingCame(t *testing.T, ports [2]*Port) {
	for _, p := range ports {
		_, found, err := p.Iprobe(Envelope{Peer: AnySource, Tag: AnyTag})
		require.NoError(t, err)
		assert.False(t, found, "a message too many")
	}
}

// window is how many messages are under way at once in each direction: a block.
const window = 64

// A soaker is one side. A block has every tag below window once.
type soaker struct {
	t       *testing.T
	p       *Port
	seed    uint64
	random  *rand.Rand // of this side alone
	sent    [window]Request
	got     [window]Request
	out, in [window][]byte
	order   [window]int32
}

func soak(t *testing.T, ports [2]*Port, seed uint64, blocks int) {
	var all sync.WaitGroup
	for rank, p := range ports {
		s := &soaker{t: t, p: p, seed: seed, random: rand.New(rand.NewPCG(seed, uint64(rank)))}
		for i := range window {
			s.out[i], s.in[i] = make([]byte, largest), make([]byte, largest)
		}
		all.Go(func() {
			for block := range blocks {
				if !s.block(uint64(block)) {
					return
				}
			}
		})
	}
	all.Wait()
}

// block sends and receives one block. Every fourth is received with wildcards alone, in
// the order sent; of the others each receive names its tag.
func (s *soaker) block(block uint64) bool {
	peer := 1 - s.p.rank
	wild := block%4 == 3
	for i := range int32(window) {
		s.order[i] = i
	}
	s.shuffle()
	for i, tag := range s.order {
		e := Envelope{Peer: peer, Tag: tag}
		if wild {
			e = Envelope{Peer: AnySource, Tag: AnyTag}
		}
		s.got[i], _ = s.p.Irecv(s.in[i], e)
	}
	order := s.order
	s.shuffle()
	for i, tag := range s.order {
		data := s.fill(s.out[i], s.p.rank, block, tag, uint32(i))
		s.sent[i], _ = s.p.Isend(data, Envelope{Peer: peer, Tag: tag})
	}
	for i, r := range s.got {
		status, err := r.Wait()
		if err != nil || !wild && status.Tag != order[i] || !s.right(s.in[i], status, block, wild, i) {
			assert.Fail(s.t, "a message is not right", "block %d, receive %d of %v: %v, %v", block, i, order[i], status, err)
			return false
		}
	}
	return WaitAll(s.sent[:], nil) == nil
}

func (s *soaker) shuffle() {
	s.random.Shuffle(window, func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
}

// largest is the largest message: above Eager. TestSoakOfBothHalves has those that both sides copy.
const largest = 300 << 10

// mix spreads a message's identity over 64 bits.
func mix(seed uint64, from int32, block uint64, tag int32) uint64 {
	h := seed ^ uint64(from)<<63 ^ block<<8 ^ uint64(tag)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// length is what size a message has, from 12 bytes: most are short, one in 10^4 is large.
func length(h uint64) int {
	switch n := h >> 40 % 10000; {
	case n < 9000:
		return 12 + int(h%64)
	case n < 9990:
		return 12 + int(h%2000)
	case n < 9999:
		return 12 + int(h%20000)
	default:
		return 12 + int(h%(largest-12))
	}
}

// fill writes a message: who it is, the how many-th of its block it was sent, and words
// that depend on both, each on the one before.
func (s *soaker) fill(buf []byte, from int32, block uint64, tag int32, position uint32) []byte {
	h := mix(s.seed, from, block, tag)
	buf = buf[:length(h)]
	binary.LittleEndian.PutUint64(buf, h)
	binary.LittleEndian.PutUint32(buf[8:], position)
	for at := 12; at+8 <= len(buf); at += 8 {
		h = h*0x9e3779b97f4a7c15 + uint64(position)
		binary.LittleEndian.PutUint64(buf[at:], h)
	}
	return buf
}

// right tells whether what came is the message that its envelope says, of this block,
// whole; and if received by wildcards, in its place.
func (s *soaker) right(buf []byte, status Status, block uint64, wild bool, place int) bool {
	h := mix(s.seed, status.Peer, block, status.Tag)
	if status.Bytes != length(h) || binary.LittleEndian.Uint64(buf) != h {
		return false
	}
	position := binary.LittleEndian.Uint32(buf[8:])
	if wild && int(position) != place {
		return false
	}
	for at := 12; at+8 <= status.Bytes; at += 8 {
		h = h*0x9e3779b97f4a7c15 + uint64(position)
		if binary.LittleEndian.Uint64(buf[at:]) != h {
			return false
		}
	}
	return true
}
