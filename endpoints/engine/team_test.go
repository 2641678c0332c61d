// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// eachTeam runs f for each rank of a fabric of so many, side by side: in one process and, from 3 on, over each carrier, with every model.
func eachTeam(t *testing.T, ranks int, f func(t *testing.T, team *Team)) {
	testsupport.NothingLeft(t)
	all := append([]way{"process"}, ways...)
	if ranks < 3 {
		all = all[:1]
	}
	for _, model := range Models() {
		for _, by := range all {
			t.Run(fmt.Sprintf("%d/%s/%s", ranks, model, by), func(t *testing.T) {
				var ports []*Port
				if by == "process" {
					whole := fabric(t, Options{Ports: ranks, Model: model})
					for rank := range ranks {
						ports = append(ports, whole.Port(rank))
					}
				} else {
					for i, part := range spanning(t, Options{Model: model}, by, 1, ranks-2, 1) {
						for rank := range []int{1, ranks - 2, 1}[i] {
							ports = append(ports, part.Port([]int{0, 1, ranks - 1}[i]+rank))
						}
					}
				}
				var all sync.WaitGroup
				for _, p := range ports {
					team, err := p.Team(4)
					require.NoError(t, err)
					all.Go(func() { f(t, team) })
				}
				all.Wait()
			})
		}
	}
}

// bounded is the time that a test's team has.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// affine combines pairs of bytes (a, b), which stand for x -> a x + b: associative, and not commutative.
func affine(into, from []byte) {
	for i := 0; i+1 < len(into); i += 2 {
		into[i], into[i+1] = into[i]*from[i], into[i+1]*from[i]+from[i+1]
	}
}

// Whatever the number of ranks, the sizes, the roots and the operations, the results are those of a plain loop over all ranks. TPSL_TEST_LARGE=1
// has ten times as many.
func TestTeams(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, ranks := range []int{1, 2, 3, 5, 8, 13} {
		eachTeam(t, ranks, func(t *testing.T, team *Team) {
			ctx := bounded(t)
			random := rand.New(rand.NewPCG(seed, uint64(ranks))) // the same in all ranks
			for range testsupport.Times(10, 100) {
				kind, size, root, salt := random.IntN(3), random.IntN(200), random.IntN(ranks), byte(random.Uint32())
				if random.IntN(8) == 0 {
					size *= 150
				}
				of := func(rank int) []byte { return pattern(size, salt+byte(rank)) }
				var want, got []byte
				var err error
				switch kind {
				case 0:
					want, got = of(root), of(team.rank)
					err = team.Bcast(ctx, got, root)
				case 1:
					want, got = of(0), of(team.rank)
					for rank := 1; rank < ranks; rank++ {
						affine(want, of(rank))
					}
					err = team.Allreduce(ctx, got, affine)
				default:
					for rank := range ranks {
						want = append(want, of(rank)...)
					}
					got = make([]byte, len(want))
					copy(got[team.rank*size:], of(team.rank))
					err = team.Allgather(ctx, got)
				}
				if !assert.NoError(t, err) || !assert.True(t, bytes.Equal(want, got), "operation %d of %d bytes, root %d", kind, size, root) {
					return
				}
			}
		})
	}
}

// Nobody leaves a barrier before all have come.
func TestTeamBarrier(t *testing.T) {
	var came [2]atomic.Int64
	var left atomic.Int64
	eachTeam(t, 5, func(t *testing.T, team *Team) {
		ctx := bounded(t)
		for round := range testsupport.Times(15, 100) {
			came[round%2].Add(1)
			assert.NoError(t, team.Barrier(ctx))
			assert.EqualValues(t, 5, came[round%2].Load())
			if left.Add(1)%5 == 0 {
				came[round%2].Store(0)
			}
			assert.NoError(t, team.Barrier(ctx))
		}
	})
}

// If a rank is gone, all others hear which, also those that its messages would not have come to, and in later operations.
func TestTeamGone(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, model := range Models() {
		for _, by := range ways {
			t.Run(model.String()+"/"+string(by), func(t *testing.T) {
				ctx := bounded(t)
				f := spanning(t, Options{Model: model}, by, 1, 1, 1, 1, 1)
				const victim = 3
				var all sync.WaitGroup
				for rank := range f {
					team, err := f[rank].Port(rank).Team(4)
					require.NoError(t, err)
					all.Go(func() {
						err := team.Barrier(ctx)
						if rank == victim {
							assert.NoError(t, err)
							f[victim].Close()
							f[victim].options.Carrier.Close()
							return
						}
						for err == nil { // news may come before the end of the first one
							err = team.Barrier(ctx)
						}
						assert.ErrorIs(t, err, ErrPeerGone)
						assert.EqualError(t, err, "rank 3 is gone: its process has closed its node")
						assert.Equal(t, err, team.Bcast(ctx, nil, rank))
					})
				}
				all.Wait()
			})
		}
	}
}

// A rank whose context ends, or whose buffer has another length, ends the operation of all.
func TestTeamGivesUp(t *testing.T) {
	eachTeam(t, 4, func(t *testing.T, team *Team) {
		all := bounded(t)
		ctx, cancel := context.WithTimeout(all, 10*time.Millisecond)
		defer cancel()
		switch team.rank {
		case 0:
			assert.EqualError(t, team.Barrier(ctx), "context deadline exceeded")
		case 1: // never comes
		default:
			assert.EqualError(t, team.Barrier(all), "rank 0 has given up: context deadline exceeded")
		}
	})
	eachTeam(t, 2, func(t *testing.T, team *Team) {
		err := team.Bcast(bounded(t), make([]byte, 8+team.rank), 0)
		if team.rank == 1 {
			assert.EqualError(t, err, "rank 0 has sent another length than the 9 bytes of rank 1: give all ranks buffers of one length")
		}
	})
}

func TestTeamRefuses(t *testing.T) {
	f := fabric(t, Options{Ports: 2})
	team, err := f.Port(0).Team(1)
	require.NoError(t, err)
	assert.EqualError(t, team.Bcast(t.Context(), nil, 2), "port 0: broadcast from rank 2: the fabric has ranks 0 to 1")
	assert.EqualError(t, team.Allgather(t.Context(), make([]byte, 3)), "port 0: gather 3 bytes: take a multiple of the 2 ranks")
	_, err = fabric(t, Options{Ports: 1, Unique: true}).Port(0).Team(1)
	assert.ErrorIs(t, err, errUnique)
}

// BenchmarkTeam measures collective operations of 8 bytes.
func BenchmarkTeam(b *testing.B) {
	for _, ranks := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			f := fabric(b, Options{Ports: ranks})
			var all sync.WaitGroup
			for rank := range ranks {
				team, err := f.Port(rank).Team(1)
				require.NoError(b, err)
				all.Go(func() {
					n := binary.LittleEndian.AppendUint64(nil, 1)
					for range b.N {
						assert.NoError(b, team.Allreduce(context.Background(), n, func(_, _ []byte) {}))
					}
				})
			}
			all.Wait()
		})
	}
}
