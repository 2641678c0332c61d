// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// at is an answer about one host with one rank, so long after the job began. change makes counts of it.
func at(elapsed time.Duration, change func(*whereabouts.Host, *whereabouts.Rank)) whereabouts.Job {
	r := whereabouts.Rank{Rank: 3, Used: true}
	h := whereabouts.Host{Proxy: 1, At: elapsed}
	change(&h, &r)
	h.Processes = []whereabouts.Process{{PID: 7, Ranks: []whereabouts.Rank{r}}}
	return whereabouts.Job{Elapsed: elapsed, Ranks: 1, Hosts: []whereabouts.Host{h}}
}

// steady is an answer about a rank that does the same all the time.
func steady(elapsed time.Duration) whereabouts.Job {
	return at(elapsed, func(h *whereabouts.Host, r *whereabouts.Rank) {
		n := uint64(elapsed / time.Second)
		h.Samples, r.InCall = 20*int(n), 5*int(n)
		r.CPU, r.Voluntary, r.Involuntary, r.Faults = elapsed*3/2, 10*n, 2*n, 7*n
	})
}

var rank3 = key{1, 3}

func TestRates(t *testing.T) {
	var h history
	h.add(steady(10 * time.Second))
	assert.Equal(t, unknown, h.rates()[rank3], "one answer has no rates")
	h.add(steady(14 * time.Second))
	assert.Equal(t, rate{mpi: 0.25, cpu: 1.5, voluntary: 10, involuntary: 2, faults: 7}, h.rates()[rank3])
}

// Rates are of the last seconds and not of all the time.
func TestRatesAreRecent(t *testing.T) {
	var h history
	for second := range 60 {
		h.add(at(time.Duration(second)*time.Second, func(h *whereabouts.Host, r *whereabouts.Rank) {
			h.Samples, r.InCall = 20*second, 20*min(second, 50)
		}))
	}
	assert.Zero(t, h.rates()[rank3].mpi, "it was in MPI until second 50")
	assert.LessOrEqual(t, len(h.told), 7)
}

// Answers that come often are not all kept, and the time between the oldest and the newest is that of the window nevertheless.
func TestFewAnswersAreKept(t *testing.T) {
	var h history
	for i := range 600 {
		h.add(steady(time.Duration(i) * 100 * time.Millisecond))
		assert.LessOrEqual(t, len(h.told), 13)
	}
	first, last := h.told[0].at, h.told[len(h.told)-1].at
	assert.Equal(t, 59900*time.Millisecond, last)
	assert.GreaterOrEqual(t, last-first, window)
	assert.Less(t, last-first, window+2*spacing)
}

// Answers that are further apart than the window are compared with the one before.
func TestAnswersFarApart(t *testing.T) {
	var h history
	for _, second := range []time.Duration{0, 20, 40} {
		h.add(steady(second * time.Second))
	}
	assert.Len(t, h.told, 2)
	assert.InDelta(t, 10, h.rates()[rank3].voluntary, 1e-9)
}

func TestWhatHasNoRate(t *testing.T) {
	for name, change := range map[string]func(*whereabouts.Host, *whereabouts.Rank){
		"it has ended":                  func(_ *whereabouts.Host, r *whereabouts.Rank) { r.Ended = true },
		"the proxy does not answer":     func(h *whereabouts.Host, _ *whereabouts.Rank) { h.At = time.Second },
		"the proxy began anew":          func(h *whereabouts.Host, _ *whereabouts.Rank) { h.At = 0 },
		"it is another rank's":          func(_ *whereabouts.Host, r *whereabouts.Rank) { r.Rank = 4 },
		"the host was not known before": func(h *whereabouts.Host, _ *whereabouts.Rank) { h.Proxy = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			h.add(steady(time.Second))
			now := steady(2 * time.Second)
			change(&now.Hosts[0], &now.Hosts[0].Processes[0].Ranks[0])
			h.add(now)
			for _, got := range h.rates() {
				assert.Equal(t, unknown, got)
			}
		})
	}
	t.Run("usage is not known", func(t *testing.T) {
		var h history
		h.add(steady(time.Second))
		now := steady(2 * time.Second)
		now.Hosts[0].Processes[0].Ranks[0].Used = false
		h.add(now)
		assert.Equal(t, rate{0.25, -1, -1, -1, -1}, h.rates()[rank3])
	})
}
