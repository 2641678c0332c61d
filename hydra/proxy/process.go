// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
)

// A process runs one rank set.
type process struct {
	set   plan.RankSet
	index int // in the plan
	pid   int
	ended chan struct{}         // closed when the process has been collected
	quiet chan struct{}         // closed when its PMI sessions and control pipe have been read to their ends
	left  map[int]chan struct{} // by rank; closed when the rank's PMI session has ended
	over  map[int]chan struct{} // by rank; closed when the end of the rank's own process has been told

	library string         // the file of its MPI library, for messages
	writers []plan.RankSet // what has standard streams of its own

	// Guarded by proxy.mu.
	status      unix.WaitStatus
	killed      bool        // the proxy has ended it
	initialized []int       // ranks that have started a PMI session
	finalized   []int       // ranks that have finalized it
	faultRank   int         // the rank whose thread crashed first, or -1
	exitRank    int         // the rank whose thread called exit, or -1
	ranks       map[int]int // in private mode the PID of each rank
	connected   bool        // its rank has connected to the PMI port, or may not any more
	rankFailed  bool        // in private mode a rank has ended badly
	dead        int         // the rank whose death by a signal ends the set, or -1
}

func newProcess(set plan.RankSet, index int) *process {
	proc := &process{set: set, index: index, ended: make(chan struct{}), quiet: make(chan struct{}), faultRank: -1, exitRank: -1, dead: -1, ranks: map[int]int{}}
	proc.left, proc.over = map[int]chan struct{}{}, map[int]chan struct{}{}
	for _, rank := range set.Ranks {
		proc.left[rank], proc.over[rank] = make(chan struct{}), make(chan struct{})
	}
	return proc
}

// unfinalized lists the ranks that started a PMI session and did not finalize it. It leaves out those whose own process has
// ended: they count at the end of that one.
func (proc *process) unfinalized() []int {
	return slices.DeleteFunc(slices.Sorted(slices.Values(proc.initialized)), func(rank int) bool {
		return slices.Contains(proc.finalized, rank) || proc.isOver(rank)
	})
}

// pidOf returns the PID of the process that the rank is, or is a thread of. Preconditions: proxy.mu is held.
func (proc *process) pidOf(rank int) int {
	if own, found := proc.ranks[rank]; found {
		return own
	}
	return proc.pid
}

// writer returns which of the process's standard streams the rank writes to.
func (proc *process) writer(rank int) plan.RankSet {
	i := slices.IndexFunc(proc.writers, func(set plan.RankSet) bool { return set.Holds(rank) })
	return proc.writers[i]
}

// hasEnded reports whether the process has been collected.
func (proc *process) hasEnded() bool {
	select {
	case <-proc.ended:
		return true
	default:
		return false
	}
}

// isOver reports whether the end of the rank's own process has been told.
func (proc *process) isOver(rank int) bool {
	select {
	case <-proc.over[rank]:
		return true
	default:
		return false
	}
}

// processOf returns the process that holds the rank. Preconditions: p.mu is held.
func (p *proxy) processOf(rank int) *process {
	i := slices.IndexFunc(p.processes, func(proc *process) bool { return proc.set.Holds(rank) })
	return p.processes[i]
}

var errEnding = errors.New("the job is ending")

// startAll starts the sets in rank order.
// Preconditions: on the launch thread.
func (p *proxy) startAll(starts []start) error {
	for i, s := range starts {
		if err := p.start(i, s); errors.Is(err, errEnding) {
			return nil
		} else if err != nil {
			return programError{s.set.Program, fmt.Errorf("cannot run %s on %s: %w", p.nameOf(s), p.host.Name, err)}
		}
	}
	return nil
}

func (p *proxy) start(index int, s start) error {
	d, err := s.layout.Open()
	if err != nil {
		return err
	}
	proc := newProcess(s.set, index)
	proc.library, proc.writers = s.exe.Library.Path, s.writers()
	err = p.fork(proc, s, d)
	d.CloseProcess()
	if err != nil {
		d.Close()
		return err
	}
	p.log.Debug("started", "ranks", s.set.Label(), "pid", proc.pid, "path", s.path, "cpus", s.cpus, "own", s.own)
	p.connect(proc, d)
	return nil
}

// fork starts the process, unless the job is ending. The lock is held from the start until the process is in byPID: who ends the
// job, and who collects children, must find it there.
func (p *proxy) fork(proc *process, s start, d *descriptors.Set) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return errEnding
	}
	if proc.pid, err = p.forkExec(s, d.Process); err != nil {
		return err
	}
	p.processes = append(p.processes, proc)
	p.byPID[proc.pid] = proc
	p.running.Add(1)
	for _, sig := range p.early {
		p.signal(proc, sig)
	}
	return nil
}

// connect begins to serve the streams, PMI sessions and control lines of a process that runs.
func (p *proxy) connect(proc *process, d *descriptors.Set) {
	for _, pipe := range d.Inputs {
		p.input.Attach(pipe)
	}
	for i, from := range proc.writers {
		p.output.Forward(from, channel.Stdout, d.Outputs[i].Stdout)
		p.output.Forward(from, channel.Stderr, d.Outputs[i].Stderr)
	}
	var talking sync.WaitGroup
	for i, conn := range d.Sessions {
		talking.Go(func() {
			p.server.Serve(proc.set.Ranks[i], proc.set.Program, conn)
			close(proc.left[proc.set.Ranks[i]])
		})
	}
	if p.port != nil || p.pmix != nil {
		for _, left := range proc.left {
			talking.Go(func() { <-left })
		}
	}
	if d.Control != nil {
		talking.Go(func() { p.readControl(proc, d.Control) })
	}
	go func() { talking.Wait(); close(proc.quiet) }()
}
