// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// helping are the models that Help is for.
var helping = []Model{Global, PerVNI, CSync, LockQ, Concurrent}

// Messages to a port whose threads all compute arrive, and its handlers answer, because another port of its process waits. Without
// Help they do not.
func TestHelp(t *testing.T) {
	testsupport.NothingLeft(t)
	var answers []byte
	handlers := []Handler{
		func(p *Port, e Envelope, data []byte) { // at the port that computes
			_, err := p.Invoke(append(data, 'y'), Envelope{Peer: e.Peer, Tag: 1})
			assert.NoError(t, err)
		},
		func(_ *Port, _ Envelope, data []byte) { answers = bytes.Clone(data) },
	}
	for _, model := range helping {
		for _, by := range append([]way{"process"}, ways...) {
			for _, help := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/help=%v", model, by, help), func(t *testing.T) {
					o := Options{Model: model, Help: help, Handlers: handlers, Eager: 1000}
					var asks, computes, waits *Port // computes and waits are of one process
					if by == "process" {
						o.Ports = 2
						f := fabric(t, o)
						asks, computes, waits = f.Port(0), f.Port(1), f.Port(0)
					} else {
						f := spanning(t, o, by, 1, 2)
						asks, computes, waits = f[0].Port(0), f[1].Port(1), f[1].Port(2)
					}
					answers = nil
					small, large := make([]byte, 10), make([]byte, 100_000)
					first, err := computes.Irecv(small, Envelope{Peer: asks.rank})
					require.NoError(t, err)
					second, err := computes.Irecv(large, Envelope{Peer: asks.rank})
					require.NoError(t, err)
					stop := func() {}
					if waits != asks {
						stop = attend(t, waits)
					}
					var sent []Request
					for _, size := range []int{len(small), len(large)} {
						r, err := asks.Isend(pattern(size, 7), Envelope{Peer: computes.rank})
						require.NoError(t, err)
						sent = append(sent, r)
					}
					_, err = asks.Invoke([]byte("wh"), Envelope{Peer: computes.rank})
					require.NoError(t, err)
					if !help {
						for range 2000 {
							asks.Progress()
						}
						assert.False(t, first.done() || second.done() || answers != nil, "without help")
						stop = tend(t, computes, stop)
					}
					require.NoError(t, WaitAll(sent, nil))
					await(t, asks, "answer", func() bool { return answers != nil && first.done() && second.done() })
					stop()
					assert.Equal(t, "why", string(answers))
					assert.True(t, bytes.Equal(pattern(len(small), 7), small) && bytes.Equal(pattern(len(large), 7), large))
					require.NoError(t, WaitAll([]Request{first, second}, nil))
				})
			}
		}
	}
}

// tend has a thread of a port's own attend to it, too.
func tend(t *testing.T, p *Port, before func()) (stop func()) {
	own := attend(t, p)
	return func() { own(); before() }
}

func TestHelpRefused(t *testing.T) {
	for _, model := range []Model{Private, Offload, HMCS} {
		_, err := New(Options{Ports: 2, Model: model, Help: true})
		assert.EqualError(t, err, "fabric of model "+model.String()+": Help needs one in which any thread may try for a port: global, per-vni, csync, lockq or concurrent")
	}
}

// Random messages between two ports, each of which also makes progress for the other: none is lost, doubled, changed or overtaken.
func TestSoakWithHelp(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, model := range helping {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Ring: 32, Model: model, Help: true})
			soak(t, [2]*Port{f.Port(0), f.Port(1)}, seed, testsupport.Times(50, 5000))
		})
	}
}
