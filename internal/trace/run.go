// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bytes"
	"context"
	"fmt"
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
	served atomic.Pointer[[]row]
}

// run counts until ctx or the limit or the processes end.
func run(ctx context.Context, proc pagetables.Proc, r request, out Output) (errs []error) {
	source, err := open(proc, r, out.Stderr)
	if err != nil {
		return []error{err}
	}
	defer source.Close()
	if _, err := source.Read(); err != nil {
		return []error{err}
	}
	s := &session{request: r, out: out, screen: screen{w: out.Stdout, size: out.Terminal}, began: time.Now(), last: &events.Snapshot{}}
	s.watch = &watch{proc: proc, source: source, named: map[events.File]bool{}}
	alive, errs := s.watch.update(r.pids)
	if alive == 0 {
		return errs
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

// show draws what has happened since the last time, over that.
func (s *session) show() error {
	now, err := s.watch.source.Read()
	if err != nil {
		return err
	}
	rows := rowsOf(s.watch.owners, now, &events.Snapshot{}, false)
	s.served.Store(&rows)
	if s.out.Terminal != nil {
		took := now.Time.Sub(s.began)
		if !s.last.Time.IsZero() {
			took = now.Time.Sub(s.last.Time)
		}
		var text bytes.Buffer
		printRows(&text, rowsOf(s.watch.owners, now, s.last, s.by == "thread"), s.watch.source.Absent(), took, true)
		if err := s.screen.draw(text.String()); err != nil {
			return err
		}
	}
	s.last = now
	return nil
}

// finish prints the totals.
func (s *session) finish() (errs []error) {
	now, err := s.watch.source.Read()
	if err != nil {
		return []error{err}
	}
	s.screen.clear()
	took := now.Time.Sub(s.began)
	none := &events.Snapshot{}
	absent := s.watch.source.Absent()
	switch {
	case s.json:
		err = printJSON(s.out.Stdout, report{
			took.Seconds(), absent, rowsOf(s.watch.owners, now, none, false), rowsOf(s.watch.owners, now, none, true),
			faultsOf(s.watch.owners, now), now.Lost,
		})
	case s.by == "object":
		printFaults(s.out.Stdout, faultsOf(s.watch.owners, now))
	default:
		fmt.Fprintf(s.out.Stdout, "in %.1f s:\n", took.Seconds())
		printRows(s.out.Stdout, rowsOf(s.watch.owners, now, none, s.by == "thread"), absent, took, false)
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
