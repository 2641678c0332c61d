// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"time"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

const (
	// window is the time over which rates are taken.
	window = 5 * time.Second
	// spacing is the least time between answers that are kept, so that these are few.
	spacing = window / 10
)

// A history is what mpiexec has told over the last seconds.
type history struct{ told []moment }

// A moment is an answer of mpiexec.
type moment struct {
	at  time.Duration // since the job began
	job whereabouts.Job
}

// add adds the newest answer. What is older than the window goes, but one answer before the newest is kept in any case.
func (h *history) add(job whereabouts.Job) {
	now := moment{job.Elapsed, job}
	if n := len(h.told); n > 1 && h.told[n-1].at-h.told[n-2].at < spacing {
		h.told[n-1] = now
	} else {
		h.told = append(h.told, now)
	}
	for len(h.told) > 2 && now.at-h.told[1].at >= window {
		h.told = h.told[1:]
	}
}

// newest returns the last answer. Preconditions: there is one.
func (h *history) newest() whereabouts.Job { return h.told[len(h.told)-1].job }

// A rate is what a rank did per time. What is not known is -1.
type rate struct {
	mpi                            float64 // share of time in MPI, from 0 to 1
	cpu                            float64 // processors
	voluntary, involuntary, faults float64 // per second
}

var unknown = rate{-1, -1, -1, -1, -1}

// A key names a rank of a job.
type key struct{ proxy, rank int }

// rates returns the rates of all ranks over the time that is kept.
func (h *history) rates() map[key]rate {
	all := map[key]rate{}
	newest, before := h.newest(), h.told[0].job
	hosts := map[int]whereabouts.Host{}
	old := map[key]whereabouts.Rank{}
	for _, host := range before.Hosts {
		hosts[host.Proxy] = host
		eachRank(host, func(r whereabouts.Rank) { old[key{host.Proxy, r.Rank}] = r })
	}
	for _, host := range newest.Hosts {
		since, known := hosts[host.Proxy]
		eachRank(host, func(r whereabouts.Rank) {
			at := key{host.Proxy, r.Rank}
			all[at] = unknown
			if earlier, there := old[at]; known && there {
				all[at] = rateOf(since, earlier, host, r)
			}
		})
	}
	return all
}

func eachRank(host whereabouts.Host, do func(whereabouts.Rank)) {
	for _, p := range host.Processes {
		for _, r := range p.Ranks {
			do(r)
		}
	}
}

// rateOf compares two answers of a host about a rank. Counts that shrink are of a proxy that began anew.
func rateOf(hostThen whereabouts.Host, then whereabouts.Rank, hostNow whereabouts.Host, now whereabouts.Rank) rate {
	r := unknown
	seconds := (hostNow.At - hostThen.At).Seconds()
	if seconds <= 0 || now.Ended {
		return r
	}
	if samples := hostNow.Samples - hostThen.Samples; samples > 0 && now.InCall >= then.InCall {
		r.mpi = float64(now.InCall-then.InCall) / float64(samples)
	}
	if now.Used && then.Used && now.CPU >= then.CPU && now.Voluntary >= then.Voluntary && now.Involuntary >= then.Involuntary && now.Faults >= then.Faults {
		r.cpu = (now.CPU - then.CPU).Seconds() / seconds
		r.voluntary = float64(now.Voluntary-then.Voluntary) / seconds
		r.involuntary = float64(now.Involuntary-then.Involuntary) / seconds
		r.faults = float64(now.Faults-then.Faults) / seconds
	}
	return r
}
