// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crew

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/job"
)

// A Member is a thread of a crew.
type Member struct {
	Port *engine.Port
	Rank int // the port's
	Size int // ranks of all processes
	Mate int // number among those that share the port
	// Yield lets other threads run; Rest does, for longer if the thread can sleep alone. GiveWay
	// does if nobody else would take the processor from a thread that computes.
	Yield, Rest, GiveWay func()
	team                 *team
}

// A team are the mates of a port.
type team struct {
	size   int32
	here   atomic.Int32
	rounds atomic.Int32
	broken *atomic.Bool // a member has failed
}

// An Outcome says what a crew was.
type Outcome struct {
	Ranks int  // of all processes
	Leads bool // rank 0 is of this process, which tells the result
}

// Run runs f on every thread of this process and returns the error that came first, by rank. The
// processes that a launcher has started are one crew.
func Run(o Options, f func(m *Member) error) (is Outcome, err error) {
	ports, err := o.ports()
	if err != nil {
		return is, err
	}
	j, err := job.Start(context.Background(), ports)
	if err != nil {
		return is, err
	}
	fabric := j.Fabric
	defer fabric.Close()
	is = Outcome{Ranks: fabric.Size(), Leads: j.First == 0}
	mates := max(o.Mates, 1)
	errs := make([]error, o.Ranks*mates)
	var broken atomic.Bool
	var members []*Member
	for rank := j.First; rank < j.First+o.Ranks; rank++ {
		t := &team{size: int32(mates), broken: &broken}
		for mate := range mates {
			members = append(members, &Member{
				Port: fabric.Port(rank), Rank: rank, Size: is.Ranks, Mate: mate, team: t,
				Yield: runtime.Gosched, Rest: nap, GiveWay: func() {},
			})
		}
	}
	start(o.As, members, func(i int) {
		if errs[i] = members[i].run(f); errs[i] != nil {
			broken.Store(true)
			_ = fabric.Close() // wakes the others
		}
	})
	if err := first(errs); err != nil {
		return is, err // the launcher ends the other processes
	}
	return is, j.Close()
}

func nap() { time.Sleep(20 * time.Microsecond) }

// start runs the members' threads and waits for their end.
func start(as string, members []*Member, run func(i int)) {
	var all sync.WaitGroup
	switch as {
	case userLevel:
		workers := make([]*fult.Worker, min(len(members), runtime.NumCPU()))
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(len(workers) + 1))
		for i := range workers {
			workers[i] = fult.NewWorker(len(members))
		}
		for i, m := range members {
			w := workers[i%len(workers)]
			m.Port.Attach(w)
			if _, err := w.Create(func(t *fult.Thread) {
				m.Yield, m.Rest, m.GiveWay = t.Yield, t.Yield, t.Yield
				run(i)
			}); err != nil {
				panic(err) // there is room for all
			}
		}
		for _, w := range workers {
			all.Go(func() { _ = w.Run() }) // members keep their errors
		}
	default:
		for i := range members {
			all.Go(func() {
				if as == osThreads {
					runtime.LockOSThread()
				}
				run(i)
			})
		}
	}
	all.Wait()
}

// first returns the cause: what others met as the fabric was closed is none.
func first(errs []error) error {
	var closed error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, engine.ErrClosed):
			closed = err
		default:
			return err
		}
	}
	return closed
}

func (m *Member) run(f func(m *Member) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("rank %d: %v\n%s", m.Rank, cause, debug.Stack())
		}
	}()
	return f(m)
}

// Meet returns when all mates of the port have called it.
func (m *Member) Meet() error {
	t := m.team
	round := t.rounds.Load()
	if t.here.Add(1) == t.size {
		t.here.Store(0)
		t.rounds.Add(1)
		return nil
	}
	for t.rounds.Load() == round {
		if t.broken.Load() {
			return engine.ErrClosed
		}
		m.Yield()
	}
	return nil
}
