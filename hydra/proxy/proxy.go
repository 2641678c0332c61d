// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy/pmix"
	"github.com/tpsl/tpsl/hydra/proxy/rdma"
	"github.com/tpsl/tpsl/hydra/proxy/stdio"
	"github.com/tpsl/tpsl/pmi"
)

const (
	// drainGrace is how long output may still come from processes that outlive the ranks.
	drainGrace = 2 * time.Second
	// lasting is the age at which a job gets a keeper of its control group, and all processors for its output. Shorter jobs do
	// not pay for them.
	lasting = 500 * time.Millisecond
	// sweepLimit is how long the proxy waits for the end of killed processes.
	sweepLimit = 3 * time.Second
	// farewell is how long a proxy may live after its channel has ended.
	farewell = 10 * time.Second
)

// A proxy is the live state of one host's part of the job.
type proxy struct {
	trunk    *channel.Trunk
	conn     *channel.Conn
	host     plan.Host      // what mpiexec has ordered
	programs []plan.Program // those of the host, with what is known here only
	server   *pmi.Server
	up       *upstream
	single   *singleton   // guarded by mu; nil if the proxy starts the ranks itself
	port     *port        // nil if ranks inherit their PMI sockets
	pmix     *pmix.Server // nil if ranks are served by PMI
	log      *slog.Logger
	input    *stdio.Input
	output   *stdio.Output
	rdma     *rdma.Guard
	board    *calls.Board // nil if the ranks note no calls
	watch    *watch       // nil if nobody looks on; only for the goroutine that handles frames
	began    time.Time
	group    *procs.Group   // of the sets' processes; nil if it cannot be made. It does not change after the first start
	running  sync.WaitGroup // counts the processes whose end has not been reported
	hostName string         // what ranks are told; "" if they are told nothing

	mu        sync.Mutex
	processes []*process
	byPID     map[int]*process
	collected procs.Makers // every process that was collected, whoever started it
	ending    bool
	dying     map[int]bool  // processes that were about to end by themselves when the end of all was ordered
	early     []unix.Signal // sent before every rank was started
	started   bool          // every rank has been started
	announced bool          // an Initialized frame was sent
	failed    []int         // ranks of the first process that failed
	oomKills  int           // kills of the kernel for want of memory that have been explained
}

// run starts the rank sets and returns when nothing is left of them. An error says why they cannot run.
func (p *proxy) run(signals <-chan os.Signal) error {
	if err := p.openPort(); err != nil {
		return err
	}
	p.group = procs.NewGroup(p.host.Key())
	defer func() { p.group.Remove() }()
	go p.handleSignals(signals)
	go p.receive()
	defer func() { p.pmix.Remove() }()
	begin, err := p.ready()
	if err != nil {
		p.pmix.Close()
		procs.Sweep(p.reap, sweepLimit) // the helper of PMIx may hang
		return err
	}
	if p.pmix != nil {
		go p.pmix.Serve()
	}
	if err = begin(); err != nil {
		p.end()
	} else {
		p.startedAll()
		p.input.Seal()
		p.conn.SendValue(channel.Started, p.pids())
		time.AfterFunc(lasting, func() {
			runtime.SetDefaultGOMAXPROCS()
			if err := p.group.Keep(); err != nil {
				p.Warned(-1, err.Error())
			}
		})
	}
	unwatch := p.rdma.Watch()
	p.running.Wait()
	unwatch()
	p.finish()
	return err
}

// ready prepares the start of the ranks, and returns the function that starts them.
func (p *proxy) ready() (begin func() error, err error) {
	if p.host.PMI.IsSingleton() {
		return p.adopt, nil
	}
	starts, err := p.prepare()
	if err == nil {
		err = p.output.OpenFiles(writers(starts))
	}
	return func() error { return onLaunchThread(func() error { return p.startAll(starts) }) }, err
}

// pids lists the processes of the sets.
func (p *proxy) pids() (list []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, proc := range p.processes {
		list = append(list, proc.pid)
	}
	return list
}

// finish ends the processes that the ranks left behind, and waits until all output has been sent.
func (p *proxy) finish() {
	drained := make(chan struct{})
	go func() { p.output.Wait(); close(drained) }()
	if !p.isEnding() {
		select {
		case <-drained:
		case <-time.After(drainGrace):
		}
	}
	if p.port != nil {
		p.port.listener.Close()
	}
	p.server.Close()
	p.tellCounts()
	p.board.Close()
	p.up.close()
	p.input.Close()
	p.group.Close()
	p.pmix.Close()
	swept := procs.Sweep(p.reap, sweepLimit)
	if !swept {
		p.Warned(-1, "some processes of the job could not be killed")
	}
	if p.isEnding() || p.endedBadly() {
		procs.RemoveSharedMemory(p.began, p.makers())
	}
	p.output.EndReading()
	<-drained
	if swept {
		p.pmix.Drain()
	}
	p.sendLastLines()
	if p.isEnding() || p.endedBadly() {
		p.rdma.Explain()
	}
	p.output.CloseFiles()
}

// receive handles frames from mpiexec until the channel closes, which ends the job. A frame that cannot be read ends the job too;
// then mpiexec is told, as it has not ordered the end.
func (p *proxy) receive() {
	frame, err := p.trunk.Receive()
	for ; err == nil; frame, err = p.trunk.Receive() {
		p.handle(frame)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrClosed) {
		p.conn.Send(channel.Failed, 0, fmt.Appendf(nil, "proxy on %s: %v", p.host.Name, err))
	}
	p.output.Close()
	p.up.close()
	p.end()
	time.AfterFunc(farewell, func() { os.Exit(1) }) // a rank that cannot be killed must not keep the proxy alive
}

func (p *proxy) handle(frame channel.Frame) {
	switch frame.Kind {
	case channel.Stdin, channel.StdinEOF:
		p.input.Feed(frame)
	case channel.Credit:
		p.output.Release(frame.CreditOf())
	case channel.Signal:
		p.signalAll(unix.Signal(frame.Index))
	case channel.Kill:
		p.end()
	case channel.Locate:
		go p.tellWhereabouts()
	case channel.Unwind:
		go p.tellStacks()
	case channel.Time:
		p.tellTime(frame.Index)
	case channel.Watch:
		p.watchRanks(frame.Index)
	case channel.Dead:
		p.otherDied(frame)
	case channel.BarrierOut:
		p.up.barrierOut(frame.Body)
	case channel.Answer:
		p.up.answer(frame)
	case channel.ModexQuery:
		p.pmix.Query(frame)
	}
}

func (p *proxy) isEnding() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending
}

// endedBadly reports whether a process ended in a way that may leave shared memory behind. After the last process mpiexec's order
// to end comes too late to tell.
func (p *proxy) endedBadly() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.processes, func(proc *process) bool { return proc.status != 0 || proc.rankFailed || len(proc.unfinalized()) > 0 })
}

// end kills every rank. What ranks leave behind is ended when the last of them has been collected.
func (p *proxy) end() {
	p.mu.Lock()
	p.noteDying()
	p.ending = true
	p.group.Kill()
	if p.single != nil {
		p.single.end()
	}
	p.mu.Unlock()
	p.signalAll(unix.SIGKILL)
}

// noteDying notes which processes are ending by themselves when the end of all is ordered. A rank elsewhere may have seen
// the death of one of ours before us, and that may be why the order has come. Preconditions: p.mu is held.
func (p *proxy) noteDying() {
	if p.ending {
		return
	}
	p.collect()
	p.dying = map[int]bool{}
	for _, proc := range p.processes {
		p.dying[proc.pid] = procs.Dying(proc.pid)
		for _, pid := range proc.ranks {
			p.dying[pid] = procs.Dying(pid)
		}
	}
}

// isOurs reports whether the proxy itself has ended the process. Preconditions: p.mu is held.
func (p *proxy) isOurs(pid int, status unix.WaitStatus) bool {
	return p.ending && !p.dying[pid] && isKill(status)
}

// makers returns the processes that were collected so far. What could not be killed may be collected later.
func (p *proxy) makers() procs.Makers {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.collected)
}

// startedAll notes that every rank has been started.
func (p *proxy) startedAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.early = true, nil
}

// reap collects ended children and reports whether any child is left.
func (p *proxy) reap() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.collect()
}

// collect does the work of reap. Preconditions: p.mu is held.
func (p *proxy) collect() bool {
	return procs.Reap(func(pid int, status unix.WaitStatus) {
		p.collected.Ended(pid)
		proc := p.byPID[pid]
		if proc == nil {
			return // a rank has left this process behind
		}
		delete(p.byPID, pid)
		proc.killed = p.isOurs(pid, status)
		proc.status = status
		close(proc.ended)
		go p.reportExit(proc)
	})
}
