// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// through returns a way from rank 0 to rank 2 of a ring of four through a child in a role, and the child.
func through(t testing.TB, make maker, role string) (send func() error, came chan time.Time, middle *carriertest.Process) {
	carriers, children := make(t, torus(t, 4, 1), map[int]string{1: role})
	came = newTimes()
	all := join(t, carriers, torus(t, 4, 1), func(rank int) Options {
		if rank != 2 {
			return Options{}
		}
		return Options{Message: func(Message) { came <- time.Now() }}
	})
	require.Equal(t, "joined", children[1].Line())
	return func() error { return all[0].Send(2, 0, nil) }, came, children[1]
}

func newTimes() chan time.Time { return make(chan time.Time, 1000) }

// A process passes messages on while its threads compute and never look at the network. Where the network has no goroutine, they wait for the
// end of the computation.
func TestPassedOnByAProcessThatComputes(t *testing.T) {
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			send, came, middle := through(t, make, "computing")
			for range 100 {
				require.NoError(t, send())
				select {
				case <-came:
				case <-time.After(carriertest.Within):
					t.Fatal("not passed on")
				}
			}
			middle.Wait() // until now it has computed
		})
		t.Run(name+", polling", func(t *testing.T) {
			testsupport.NothingLeft(t)
			send, came, middle := through(t, make, "polling")
			require.NoError(t, send())
			select {
			case <-came:
				t.Fatal("passed on, by whom?")
			case <-time.After(500 * time.Millisecond):
			}
			middle.Wait()
			select {
			case <-came:
			case <-time.After(carriertest.Within):
				t.Fatal("not passed on after the computation")
			}
		})
	}
}

// BenchmarkForward measures a message from process 0 through 1 to 2, where 0 and 2 are this process: the median and 99.9 % of
// 1,000, one at a time, a millisecond apart. In the middle there is a process that waits, one whose threads compute on all
// cores but one, on all cores, or on all processors that Go has, so that none is left for the network. The control is how late this
// process wakes from the sleeps between.
func BenchmarkForward(b *testing.B) {
	const count = 1000
	for name, make := range makers {
		for _, role := range []string{"idle", "computing", "full", "crowded"} {
			b.Run(name+"/"+role, func(b *testing.B) {
				send, came, middle := through(b, make, role)
				for b.Loop() {
					var took, late []time.Duration
					for range count {
						begin := time.Now()
						require.NoError(b, send())
						took = append(took, (<-came).Sub(begin))
						begin = time.Now()
						time.Sleep(time.Millisecond)
						late = append(late, time.Since(begin)-time.Millisecond)
					}
					slices.Sort(took)
					slices.Sort(late)
					b.ReportMetric(float64(took[count/2].Microseconds()), "median-us")
					b.ReportMetric(float64(took[count*999/1000].Microseconds()), "p99.9-us")
					b.ReportMetric(float64(late[count*999/1000].Microseconds()), "late-p99.9-us")
				}
				middle.Wait()
			})
		}
	}
}
