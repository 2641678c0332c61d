// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
)

// tellWhereabouts answers the question of mpiexec. It takes a moment to see whether calls last.
func (p *proxy) tellWhereabouts() {
	p.conn.SendValue(channel.Located, p.location((*calls.Board).Read))
}

// location tells where the ranks are and, if they note their calls, what is read of these.
func (p *proxy) location(read func(*calls.Board) []calls.Rank) channel.Location {
	where := p.whereabouts()
	p.mu.Lock()
	board := p.board
	p.mu.Unlock()
	if board == nil {
		return channel.Location{Whereabouts: where}
	}
	doing := read(board)
	for _, at := range where {
		for i := range doing {
			doing[i].Ended = doing[i].Ended || at.Phase == channel.Ended && slices.Contains(at.Ranks, doing[i].Rank)
		}
	}
	return channel.Location{Whereabouts: where, Doing: doing}
}

// whereabouts tells where each rank of the host is. Ranks of one process that are in the same phase share an entry.
func (p *proxy) whereabouts() (all []channel.Whereabouts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	missing := p.host.LocalRanks()
	for _, proc := range p.processes {
		for _, rank := range proc.set.Ranks {
			all = appendWhereabouts(all, rank, proc.pidOf(rank), p.phaseOf(proc, rank))
			missing = slices.DeleteFunc(missing, func(other int) bool { return other == rank })
		}
	}
	for _, rank := range missing {
		all = appendWhereabouts(all, rank, 0, channel.NotStarted)
	}
	return all
}

// appendWhereabouts adds a rank, to the last entry if that is alike.
func appendWhereabouts(all []channel.Whereabouts, rank, pid int, phase channel.Phase) []channel.Whereabouts {
	if n := len(all); n > 0 && all[n-1].PID == pid && all[n-1].Phase == phase {
		all[n-1].Ranks = append(all[n-1].Ranks, rank)
		return all
	}
	return append(all, channel.Whereabouts{Ranks: []int{rank}, PID: pid, Phase: phase})
}

// phaseOf tells how far a rank has come. Preconditions: p.mu is held.
func (p *proxy) phaseOf(proc *process, rank int) channel.Phase {
	waits, known := p.server.InBarrier(rank)
	switch {
	case proc.hasEnded() || proc.isOver(rank):
		return channel.Ended
	case slices.Contains(proc.finalized, rank):
		return channel.Finalized
	case waits:
		return channel.InBarrier
	case !slices.Contains(proc.initialized, rank):
		return channel.NoSession
	case known:
		return channel.OutOfBarrier
	}
	return channel.InSession
}
