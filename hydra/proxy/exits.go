// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/control"
	"github.com/tpsl/tpsl/hydra/procs"
)

const (
	// settle is how long mpiexec's news of a process's end waits for what the process last sent over PMI and control pipe.
	settle = 200 * time.Millisecond
	// exitDelay is how long a rank may live after closing its PMI session before that counts as its end.
	exitDelay = 500 * time.Millisecond
	// exitDelays is how many of these delays may pass while the rank is dying: the machine may be busy.
	exitDelays = 20
	// setEnd is how long the process of a set may take to end the other ranks when one has died of a signal.
	setEnd = 2 * time.Second
)

// reportExit tells mpiexec how a process ended, after everything that the process sent has been read.
func (p *proxy) reportExit(proc *process) {
	defer p.running.Done()
	p.neverConnected(proc)
	patient(proc.quiet, settle)
	p.mu.Lock()
	exit := channel.Exit{
		Set:         proc.index,
		Rank:        -1,
		PID:         proc.pid,
		Status:      uint32(proc.status),
		Initialized: len(proc.initialized) > 0,
		Unfinalized: proc.unfinalized(),
		FaultRank:   proc.faultRank,
		ExitRank:    proc.exitRank,
		Ended:       proc.killed || proc.dead >= 0,
		With:        proc.dead,
	}
	p.examine(&exit, proc, proc.set.Ranks)
	p.mu.Unlock()
	p.conn.SendValue(channel.Exited, exit)
}

// patient waits until done is closed, but for the limit at most, and tells whether it was. It counts ticks and not time: while this
// process is stopped or gets no processor, it reads nothing and others may get none either, and there are no ticks.
func patient(done <-chan struct{}, limit time.Duration) bool {
	const count = 20
	ticks := time.NewTicker(limit / count)
	defer ticks.Stop()
	for range count {
		select {
		case <-done:
			return true
		case <-ticks.C:
		}
	}
	return false
}

// examine adds what the host knows of a failure. Preconditions: p.mu is held.
func (p *proxy) examine(exit *channel.Exit, proc *process, ranks []int) {
	status := unix.WaitStatus(exit.Status)
	if exit.Ended || !status.Signaled() && len(exit.Unfinalized) == 0 {
		return
	}
	p.failedFirst(ranks)
	if status.CoreDump() {
		exit.Core = procs.CoreFile(exit.PID, p.host.Programs[proc.set.Program].Wdir, p.began)
	}
	if isKill(status) {
		if kills := procs.OOMKills(); kills > p.oomKills {
			p.oomKills++ // one kill explains one end; those of other victims are still to come
			exit.OutOfMemory = true
		}
	}
}

// failedFirst notes which ranks of the host were the first to fail. Preconditions: p.mu is held.
func (p *proxy) failedFirst(ranks []int) {
	if p.failed == nil {
		p.failed = ranks
	}
}

// sendLastLines sends what the host's first failure last wrote to stderr, when all output is read.
func (p *proxy) sendLastLines() {
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	if failed == nil {
		return
	}
	if text, known := p.output.LastLines(failed[0]); known { // its own in private mode
		p.conn.SendValue(channel.LastLines, channel.Tail{Ranks: failed, Text: text})
	}
}

// otherDied tells the ranks, as Hydra does, that others have died while the job goes on: by the key PMI_dead_processes and, if they
// have a handler for it, by SIGUSR1. MPI libraries that PMIx serves look at neither.
func (p *proxy) otherDied(frame channel.Frame) {
	var dead []int
	if frame.Value(&dead) == nil {
		p.server.SetDead(dead)
		if p.pmix == nil {
			procs.Tell(unix.SIGUSR1, p.inSession()...)
		}
	}
}

// inSession lists the processes that ranks with a PMI session are in.
func (p *proxy) inSession() (pids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, proc := range p.byPID {
		for _, rank := range proc.unfinalized() {
			pids = append(pids, proc.pidOf(rank))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(pids)))
}

// Initialized implements pmi.Events.
func (p *proxy) Initialized(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc := p.processOf(rank)
	proc.initialized = append(proc.initialized, rank)
	if !p.announced {
		p.announced = true
		p.conn.Send(channel.Initialized, rank, nil)
	}
}

// Finalized implements pmi.Events.
func (p *proxy) Finalized(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc := p.processOf(rank)
	proc.finalized = append(proc.finalized, rank)
}

// Aborted implements pmi.Events.
func (p *proxy) Aborted(rank, code int, text string) {
	p.mu.Lock()
	if p.single != nil {
		p.single.pid = 0 // the process ends itself, and is not killed
	}
	p.mu.Unlock()
	p.conn.SendValue(channel.Aborted, channel.Abort{Rank: rank, Code: code, Text: text})
}

// Disconnected implements pmi.Events. Normally the end of the process follows and has more information.
func (p *proxy) Disconnected(rank int) {
	p.mu.Lock()
	proc := p.processOf(rank)
	p.mu.Unlock()
	go func() {
		for range exitDelays {
			select {
			case <-proc.ended:
				return
			case <-proc.over[rank]:
				return
			case <-time.After(exitDelay):
			}
			if !p.isDying(proc, rank) {
				break
			}
		}
		p.conn.SendValue(channel.Exited, channel.Exit{
			Set: proc.index, Rank: -1, PID: proc.pid, Initialized: true, Unfinalized: []int{rank}, FaultRank: -1, ExitRank: -1, Running: true,
		})
	}()
}

// isDying reports whether the process of a rank is ending or has ended.
func (p *proxy) isDying(proc *process, rank int) bool {
	p.mu.Lock()
	pid, isOwn := proc.ranks[rank]
	p.mu.Unlock()
	return isOwn && procs.Dying(pid) || procs.Dying(proc.pid)
}

// Warned implements pmi.Events.
func (p *proxy) Warned(rank int, text string) {
	p.conn.Send(channel.Warned, rank+1, []byte(text)) // -1 is the host
}

// readControl handles the lines that a set's process writes about itself.
func (p *proxy) readControl(proc *process, lines *os.File) {
	defer lines.Close()
	for e := range control.Events(lines, proc.set.Ranks) {
		switch e.Kind {
		case control.Started:
			p.rankStarted(proc, e.Rank, e.PID)
		case control.Initialized:
			p.rankInitialized(proc, e.Rank)
		case control.Faulted:
			p.faulted(proc, e.Rank)
		case control.Aborting:
			p.Aborted(e.Rank, e.Code, "")
		case control.Leaving:
			p.leaving(proc, e.Rank)
		case control.Exited:
			p.rankExited(proc, e.Rank, e.PID, e.Status)
		}
	}
}

func (p *proxy) faulted(proc *process, rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proc.faultRank < 0 {
		proc.faultRank = rank
	}
}

func (p *proxy) leaving(proc *process, rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc.exitRank = rank
}

func (p *proxy) rankStarted(proc *process, rank, pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc.ranks[rank] = pid
}

// rankExited tells mpiexec how a rank ended that had a process of its own, after everything on its PMI session has been read.
func (p *proxy) rankExited(proc *process, rank, pid int, status unix.WaitStatus) {
	if proc.isOver(rank) {
		return // its end was told before
	}
	close(proc.over[rank])
	patient(proc.left[rank], settle)
	p.mu.Lock()
	exit := channel.Exit{
		Set:         proc.index,
		Rank:        rank,
		PID:         pid,
		Status:      uint32(status),
		Initialized: slices.Contains(proc.initialized, rank),
		FaultRank:   -1,
		ExitRank:    -1,
		Ended:       p.isOurs(pid, status) || proc.dead >= 0 && isKill(status),
		With:        proc.dead,
	}
	if exit.Initialized && !slices.Contains(proc.finalized, rank) {
		exit.Unfinalized = []int{rank}
	}
	p.examine(&exit, proc, []int{rank})
	if status.Signaled() && !exit.Ended {
		p.endSet(proc, rank)
	}
	proc.rankFailed = proc.rankFailed || status != 0 || len(exit.Unfinalized) > 0
	p.collected.Ended(pid)
	p.mu.Unlock()
	p.conn.SendValue(channel.Exited, exit)
}

// endSet notes that a rank has died of a signal. That ends its whole set, because the rank may have held locks in the memory that
// all share. The process of the set kills the other ranks; it is killed if it does not. Preconditions: p.mu is held.
func (p *proxy) endSet(proc *process, rank int) {
	if proc.dead >= 0 {
		return
	}
	proc.dead = rank
	go func() {
		if patient(proc.ended, setEnd) {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.byPID[proc.pid] == proc {
			p.Warned(rank, "it died of a signal, and its process did not end the ranks that share memory with it in time: they are killed")
			p.signal(proc, unix.SIGKILL)
		}
	}()
}

func isKill(status unix.WaitStatus) bool { return status.Signaled() && status.Signal() == unix.SIGKILL }
