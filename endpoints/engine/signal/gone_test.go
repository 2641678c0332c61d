// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// news is what a process hears of those that are gone.
type news struct {
	sync.Mutex
	of map[int]error
}

func (n *news) gone(t testing.TB) func(rank int, err error) {
	n.of = map[int]error{}
	return func(rank int, err error) {
		n.Lock()
		defer n.Unlock()
		if n.of[rank] != nil {
			t.Errorf("rank %d is gone again", rank)
		}
		n.of[rank] = err
	}
}

// await waits until so many are gone, and returns who.
func (n *news) await(t testing.TB, count int) map[int]error {
	t.Helper()
	require.Eventually(t, func() bool {
		n.Lock()
		defer n.Unlock()
		return len(n.of) >= count
	}, carriertest.Within, time.Millisecond)
	n.Lock()
	defer n.Unlock()
	return n.of
}

// Whoever is killed, all others hear of it by the network, whether they had a link to it or not, and go on. Where a second way is left,
// messages take it; where none is, the error names those that cannot be reached, and the links. Meanwhile all send to all.
func TestKilled(t *testing.T) {
	for name, make := range makers {
		for _, c := range []struct {
			size, dimensions int
			killed           []int
			parts            [][]int // of the others: who still reaches whom
		}{
			{5, 1, []int{2}, [][]int{{0, 1, 3, 4}}},
			{8, 1, []int{2, 6}, [][]int{{0, 1, 7}, {3, 4, 5}}},
			{9, 2, []int{4}, [][]int{{0, 1, 2, 3, 5, 6, 7, 8}}},
			{12, 3, []int{1, 5}, [][]int{{0, 2, 3, 4, 6, 7, 8, 9, 10, 11}}},
			{2, 3, []int{1}, [][]int{{0}}},
		} {
			t.Run(fmt.Sprintf("%s/%d in %dD without %v", name, c.size, c.dimensions, c.killed), func(t *testing.T) {
				testsupport.NothingLeft(t)
				torus := torus(t, c.size, c.dimensions)
				roles := map[int]string{}
				for _, rank := range c.killed {
					roles[rank] = "idle"
				}
				carriers, children := make(t, torus, roles)
				heard := forEach(c.size, func(int) *news { return new(news) })
				finals := forEach(c.size, func(int) *finals { return &finals{t: t, from: map[int]int{}} })
				all := join(t, carriers, torus, func(rank int) Options {
					return Options{Buffers: 1, Message: finals[rank].message, Gone: heard[rank].gone(t)}
				})
				for _, child := range children {
					require.Equal(t, "joined", child.Line())
				}
				var senders sync.WaitGroup
				stop := storm(&senders, all)
				t.Cleanup(stop)
				for _, child := range children {
					child.Kill()
				}
				for _, part := range c.parts {
					for _, rank := range part {
						of := heard[rank].await(t, c.size-len(part))
						for other := range c.size {
							err := of[other]
							if slices.Contains(part, other) {
								require.NoError(t, err)
								continue
							}
							require.ErrorIs(t, err, carrier.ErrPeerGone)
							require.Regexp(t, fmt.Sprintf(`^rank %d is gone: these links are down, and no others lead to it: [\d, -]+$`, other), err.Error())
							require.Equal(t, err, all[rank].Send(other, 0, nil))
						}
					}
				}
				stop()
				senders.Wait()
				for _, part := range c.parts { // what is sent now, comes
					for _, from := range part {
						for _, to := range part {
							require.NoError(t, all[from].Send(to, final, nil))
						}
					}
					for _, rank := range part {
						require.Eventually(t, func() bool { return finals[rank].count() == len(part) }, carriertest.Within, time.Millisecond)
					}
				}
			})
		}
	}
}

// final is the type of the last message of one process to another.
const final = 1

// finals counts them.
type finals struct {
	sync.Mutex
	t    testing.TB
	from map[int]int
}

func (f *finals) message(m Message) {
	f.Lock()
	defer f.Unlock()
	if m.Type == final {
		f.from[m.From]++
		assert.Equal(f.t, 1, f.from[m.From])
	}
}

func (f *finals) count() int {
	f.Lock()
	defer f.Unlock()
	return len(f.from)
}

// storm has all send to all until it is stopped.
func storm(senders *sync.WaitGroup, all []*Network) (stop func()) {
	stopped := make(chan struct{})
	for from, n := range all {
		if n == nil {
			continue
		}
		senders.Go(func() {
			for k := 0; ; k++ {
				select {
				case <-stopped:
					return
				default:
					_ = n.Send((from+k)%len(all), 0, make([]byte, 100)) // some are gone
				}
			}
		})
	}
	return sync.OnceFunc(func() { close(stopped) })
}

// The error names the links that would lead to it, or to those with which it is cut off.
func TestGoneNamesTheLinks(t *testing.T) {
	r := newRouter(torus(t, 8, 1), 0, 1)
	said := map[int]string{}
	r.gone = func(rank int, err error) { said[rank] = err.Error() }
	for _, e := range []edge{{1, 2}, {2, 3}, {6, 7}, {5, 6}} {
		r.lose(e)
	}
	const why = " is gone: these links are down, and no others lead to it: "
	assert.Equal(t, map[int]string{
		2: "rank 2" + why + "1-2, 2-3", // there is a way to 3 yet
		3: "rank 3" + why + "6-7", 4: "rank 4" + why + "6-7", 5: "rank 5" + why + "6-7", 6: "rank 6" + why + "6-7",
	}, said)
}

// A neighbour that sends what makes no sense is given up, as is one that says that their link is down. A stranger is ignored.
func TestNonsense(t *testing.T) {
	for name, send := range map[string]func(p carrier.Port) (carrier.Outcome, error){
		"no kind":  func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, 99, 0, nil, 0) },
		"no class": func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, frameMessage, -1, words(0, 0, 0), 0) },
		"too long": func(p carrier.Port) (carrier.Outcome, error) {
			return p.Send(0, frameMessage, 0, make([]byte, maxBody+1), 0)
		},
		"too short":     func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, frameMessage, 0, nil, 0) },
		"credits":       func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, frameCredit, 0, words(7), 0) },
		"without room":  func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, frameMessage, 0, words(1, 1, 0), 0) },
		"the link down": func(p carrier.Port) (carrier.Outcome, error) { return p.Send(0, frameNotice, 0, words(0, 1), 0) },
	} {
		for stranger, from := range map[bool]int{false: 1, true: 2} {
			t.Run(fmt.Sprintf("%s, stranger %v", name, stranger), func(t *testing.T) {
				testsupport.NothingLeft(t)
				carriers, _ := overShm(t, torus(t, 5, 1), nil)
				all := make([]carrier.Carrier, 5)
				all[0] = carriers[0]
				n := join(t, all, torus(t, 5, 1), func(int) Options { return Options{Buffers: 1, Polled: true} })[0]
				for range 3 { // the class has one buffer, and what goes back to its sender keeps it
					outcome, err := send(carriers[from].Port(from))
					require.NoError(t, err)
					require.NotEqual(t, carrier.Full, outcome)
					for n.Poll() {
					}
				}
				assert.Equal(t, !stranger, n.router.down[edge{0, 1}])
				assert.Len(t, n.router.down, map[bool]int{false: 1, true: 0}[stranger])
			})
		}
	}
}
