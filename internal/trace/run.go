// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/pagetables"
	"github.com/tpsl/tpsl/pagetables/events"
)

// session is a run of the command.
type session struct {
	request
	out    Output
	screen screen
	watch  *watch
	began  time.Time
	last   *events.Snapshot
	seen   map[events.Thread]events.Counts // threads as they were read last, also those that have ended
	served atomic.Pointer[[]row]
}

// run counts until ctx or the limit or the processes end.
func run(ctx context.Context, proc pagetables.Proc, r request, out Output) (errs []error) {
	source, err := open(proc, r, out.Stderr)
	if err != nil {
		return []error{err}
	}
	defer source.Close()
	s := &session{
		request: r, out: out, screen: screen{w: out.Stdout, size: out.Terminal}, began: time.Now(),
		last: &events.Snapshot{}, seen: map[events.Thread]events.Counts{},
	}
	s.watch = &watch{proc: proc, source: source, named: map[events.File]bool{}}
	alive, errs := s.watch.update(r.pids)
	if alive == 0 {
		return errs
	}
	if _, err := s.read(); err != nil { // which sees the threads, however soon they end
		return append(errs, err)
	}
	if r.address != "" {
		stop, err := s.serve()
		if err != nil {
			return append(errs, err)
		}
		defer stop()
	}
	if r.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.limit)
		defer cancel()
	}
	return append(errs, s.loop(ctx)...)
}

// loop shows and updates until it is over, and prints the end.
func (s *session) loop(ctx context.Context) (errs []error) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return s.finish()
		case <-tick.C:
		}
		if err := s.show(); err != nil {
			return []error{err}
		}
		alive, errs := s.watch.update(s.pids)
		if alive == 0 && !slices.ContainsFunc(errs, pagetables.MayHaveRanks) { // between two calls of TPSL_Run there are none
			return s.finish()
		}
	}
}

// read reads what has been counted, and notes the threads.
func (s *session) read() (*events.Snapshot, error) {
	now, err := s.watch.source.Read()
	if err == nil {
		maps.Copy(s.seen, now.Threads)
	}
	return now, err
}

// show draws what has happened since the last time, over that.
func (s *session) show() error {
	now, err := s.read()
	if err != nil {
		return err
	}
	rows := ranksOf(s.watch.owners, now, &events.Snapshot{})
	s.served.Store(&rows)
	if s.out.Terminal != nil {
		took := now.Time.Sub(s.began)
		if !s.last.Time.IsZero() {
			took = now.Time.Sub(s.last.Time)
		}
		if s.by == "thread" {
			rows = threadsOf(s.watch.owners, now.Threads, s.last.Threads)
		} else {
			rows = ranksOf(s.watch.owners, now, s.last)
		}
		var text bytes.Buffer
		printRows(&text, rows, s.watch.source.Absent(), took, true)
		if err := s.screen.draw(text.String()); err != nil {
			return err
		}
	}
	s.last = now
	return nil
}

// finish prints the totals.
func (s *session) finish() (errs []error) {
	now, err := s.read()
	if err != nil {
		return []error{err}
	}
	s.screen.clear()
	took := now.Time.Sub(s.began)
	ranks, threads := ranksOf(s.watch.owners, now, &events.Snapshot{}), threadsOf(s.watch.owners, s.seen, nil)
	absent := s.watch.source.Absent()
	switch {
	case s.json:
		err = printJSON(s.out.Stdout, report{
			took.Seconds(), absent, ranks, threads, faultsOf(s.watch.owners, now), now.Lost,
		})
	case s.by == "object":
		printFaults(s.out.Stdout, faultsOf(s.watch.owners, now))
	default:
		rows := ranks
		if s.by == "thread" {
			rows = threads
		}
		fmt.Fprintf(s.out.Stdout, "in %.1f s:\n", took.Seconds())
		printRows(s.out.Stdout, rows, absent, took, false)
	}
	if err != nil {
		errs = append(errs, err)
	}
	if now.Lost > 0 {
		errs = append(errs, fmt.Errorf("%d threads or page faults found no room and are not in the figures", now.Lost))
	}
	return errs
}

// serve answers Prometheus with the last figures.
func (s *session) serve() (stop func(), err error) {
	token, err := readToken(s.token)
	if err != nil {
		return nil, err
	}
	s.served.Store(&[]row{})
	stop, address, err := serve(s.address, token, func() []row { return *s.served.Load() })
	if err == nil {
		fmt.Fprintf(s.out.Stderr, "tpsl trace: serving http://%s/metrics\n", address)
	}
	return stop, err
}
