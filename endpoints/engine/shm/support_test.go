// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// within is the time limit of what a test waits for.
const within = time.Minute

// sockets returns the two ends of so many sockets to meet by.
func sockets(t testing.TB, count int) (forMeet, forJoin []*os.File) {
	t.Helper()
	for range count {
		m, j, err := Socketpair()
		require.NoError(t, err)
		t.Cleanup(func() { m.Close(); j.Close() })
		forMeet, forJoin = append(forMeet, m), append(forJoin, j)
	}
	return forMeet, forJoin
}

// joined returns nodes of this one process that are joined as several are.
func joined(t testing.TB, options ...Options) []*Node {
	t.Helper()
	forMeet, forJoin := sockets(t, len(options))
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	nodes := make([]*Node, len(options))
	ends := make(chan error)
	go func() { ends <- Meet(ctx, forMeet) }()
	for i := range options {
		go func() {
			var err error
			nodes[i], err = Join(ctx, forJoin[i], options[i])
			ends <- err
		}()
	}
	for range len(options) + 1 {
		require.NoError(t, <-ends)
	}
	t.Cleanup(func() {
		for _, n := range nodes {
			if err := n.Close(); !errors.Is(err, os.ErrClosed) { // by the test
				require.NoError(t, err)
			}
		}
	})
	return nodes
}

// pair returns the ports of two nodes with one rank each.
func pair(t testing.TB, o Options) (a, b *Port) {
	t.Helper()
	o.Ports, o.Total = 1, 2
	second := o
	second.First = 1
	nodes := joined(t, o, second)
	return nodes[0].port(0), nodes[1].port(1)
}

// await polls until there is something, and sleeps meanwhile, as long as it takes.
func await(t testing.TB, p *Port) *carrier.Event {
	t.Helper()
	e := new(carrier.Event)
	for end := time.Now().Add(within); time.Now().Before(end); {
		if p.Poll(e) {
			return e
		}
		since := p.Doze()
		if p.Poll(e) {
			p.Rouse()
			return e
		}
		p.Sleep(since, within)
	}
	t.Fatalf("rank %d: nothing came, or nobody woke it", p.rank)
	return nil
}

// mustSend sends when there is room.
func mustSend(t testing.TB, p *Port, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	for end := time.Now().Add(within); ; {
		outcome, err := p.Send(to, 7, tag, buf, handle)
		require.NoError(t, err)
		if outcome != carrier.Full {
			return outcome
		}
		require.True(t, time.Now().Before(end), "no room")
		time.Sleep(10 * time.Microsecond)
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

func filled(size, number int) []byte { return Fill(make([]byte, size), uint64(number)) }
