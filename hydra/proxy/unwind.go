// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"time"

	"github.com/prometheus/procfs"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/proxy/stacks"
)

// stacksLimit bounds the time that all stacks of a host may take.
const stacksLimit = 20 * time.Second

// tellStacks answers the question of mpiexec for the stacks of the ranks.
func (p *proxy) tellStacks() {
	ctx, cancel := context.WithTimeout(context.Background(), stacksLimit)
	defer cancel()
	all := p.rankThreads()
	var threads []stacks.Thread
	for _, r := range all {
		threads = append(threads, stacks.Thread{PID: r.PID, TID: r.Thread})
	}
	found := stacks.Read(ctx, threads)
	for i := range all {
		stack := found[threads[i]]
		all[i].Frames, all[i].Error = stack.Frames, stack.Error
	}
	p.conn.SendValue(channel.Unwound, all)
}

// rankThreads lists the threads of ranks that have noted calls. Of a rank with a process of its own that has noted none it lists the first
// thread, and of ranks that are threads all threads of their process.
func (p *proxy) rankThreads() (all []channel.RankStack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	noted := p.board.Threads()
	for _, proc := range p.processes {
		var unknown []int
		for i, rank := range proc.set.Ranks {
			pid := proc.pidOf(rank)
			if proc.hasEnded() || proc.isOver(rank) || pid == 0 {
				continue
			}
			var tids []int
			if local := proc.set.Local + i; local < len(noted) {
				tids = noted[local]
			}
			switch {
			case len(tids) > 0:
			case len(proc.set.Ranks) == 1 || pid != proc.pid:
				tids = []int{pid}
			default:
				unknown = append(unknown, rank)
			}
			all = appendThreads(all, []int{rank}, pid, tids)
		}
		if len(unknown) > 0 {
			all = appendThreads(all, unknown, proc.pid, threadsOf(proc.pid))
		}
	}
	return all
}

func appendThreads(all []channel.RankStack, ranks []int, pid int, tids []int) []channel.RankStack {
	for _, tid := range tids {
		all = append(all, channel.RankStack{Ranks: ranks, PID: pid, Thread: tid})
	}
	return all
}

// threadsOf lists the threads of a process; none if it has ended.
func threadsOf(pid int) (tids []int) {
	threads, _ := procfs.AllThreads(pid)
	for _, t := range threads {
		tids = append(tids, t.PID)
	}
	return tids
}
