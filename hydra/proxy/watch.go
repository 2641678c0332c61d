// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"sync"
	"time"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/proxy/usage"
	"github.com/tpsl/tpsl/hydra/wire"
)

// A watch samples what the ranks of the host do while somebody looks on.
type watch struct {
	mu      sync.Mutex // one answer at a time
	began   time.Time
	sampler *calls.Sampler // nil if the ranks note no calls
	counter *usage.Counter
}

// watchRanks answers a question of mpiexec about what the ranks do. With the first question the sampling begins, and with question 0 it
// ends. mpiexec asks when the ranks have been started.
// Preconditions: on the goroutine that handles frames.
func (p *proxy) watchRanks(question int) {
	if question == 0 {
		p.endWatch()
		return
	}
	if p.watch == nil {
		p.log.Debug("begins to sample ranks")
		p.watch = &watch{began: time.Now(), counter: usage.NewCounter()}
		if p.board != nil {
			p.watch.sampler = calls.NewSampler(p.board)
		}
	}
	go func(w *watch) { p.conn.Send(channel.Watched, question, wire.Encode(p.samples(w))) }(p.watch)
}

// endWatch ends the sampling, if there is any.
func (p *proxy) endWatch() {
	if p.watch == nil {
		return
	}
	if p.watch.sampler != nil {
		p.watch.sampler.Stop()
	}
	p.watch = nil
	p.log.Debug("samples ranks no more")
}

// samples tells what the ranks do and have used.
func (p *proxy) samples(w *watch) channel.Samples {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := channel.Samples{Location: p.location((*calls.Board).Glance), Processes: p.processUsages(), At: time.Since(w.began)}
	used := w.counter.Count(p.usedRanks())
	inCall := map[int]int{}
	if w.sampler != nil {
		taken, counts := w.sampler.Counts()
		s.Taken = taken
		for local, r := range s.Doing {
			inCall[r.Rank] = counts[local]
		}
	}
	for _, rank := range p.host.LocalRanks() {
		own := channel.RankSamples{Rank: rank, InCall: inCall[rank]}
		own.Usage, own.Used = used[rank]
		s.Ranks = append(s.Ranks, own)
	}
	return s
}

// usedRanks says what each rank of the host is, whose usage is counted. A thread rank has no thread that is known until it has noted a call.
func (p *proxy) usedRanks() (ranks []usage.Rank) {
	threads := p.board.Threads()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, proc := range p.processes {
		for i, rank := range proc.set.Ranks {
			r := usage.Rank{Rank: rank, PID: proc.pidOf(rank)}
			if proc.hasEnded() || proc.isOver(rank) {
				continue
			}
			if len(proc.set.Ranks) > 1 && r.PID == proc.pid {
				local := proc.set.Local + i
				if local >= len(threads) || len(threads[local]) == 0 {
					continue
				}
				r.Threads = threads[local]
			}
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// processUsages lists the processes of rank sets, with their memory unless they have ended.
func (p *proxy) processUsages() []channel.ProcessUsage {
	list, alive := p.listProcesses()
	for i := range list {
		if alive[i] {
			list[i].Resident = usage.Resident(list[i].PID)
		}
	}
	return list
}

func (p *proxy) listProcesses() (list []channel.ProcessUsage, alive []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, proc := range p.processes {
		list = append(list, channel.ProcessUsage{PID: proc.pid, Ranks: slices.Clone(proc.set.Ranks)})
		alive = append(alive, !proc.hasEnded())
	}
	return list, alive
}
