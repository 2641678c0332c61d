// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A meter measures one side.
type meter struct {
	plan
	side results.Name
	out  io.Writer
}

// measureSide is what a side's process does.
func (o options) measureSide(stdout io.Writer) error {
	side := results.ParseName(o.measure)
	b, ok := benches[side.Kind]
	if !ok || b.measure == nil {
		return fmt.Errorf("-measure %s: no such side", o.measure)
	}
	if err := b.measure(&meter{o.plan, side, stdout}); err != nil {
		return fmt.Errorf("%s: %w", o.measure, err)
	}
	return nil
}

// batches are the runs of a figure, of which the median counts: one in which others had the
// processor decides nothing.
const batches = 5

// repeat runs f for more and more rounds, until a batch takes its share of the time of a figure, then so many
// times again. It returns the rounds of a batch and the median of the times. f says how long its rounds took.
func (m *meter) repeat(f func(rounds int) (took time.Duration, err error)) (rounds int, took time.Duration, err error) {
	for rounds = 1; took < m.figure/batches; rounds *= 2 {
		if took, err = f(rounds); err != nil {
			return 0, 0, err
		}
	}
	times := make([]time.Duration, batches)
	for i := range times {
		if times[i], err = f(rounds); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(times)
	return rounds, times[batches/2], nil
}

// print prints a figure: the side's name with more keys, such as "size=8".
func (m *meter) print(rounds int, value float64, unit string, keys ...string) {
	m.printAs(m.side.Kind, rounds, value, unit, keys...)
}

// printAs prints a figure of another kind than the side's own.
func (m *meter) printAs(kind string, rounds int, value float64, unit string, keys ...string) {
	side := m.side
	side.Kind = kind
	name := strings.Join(append([]string{side.String()}, keys...), "/")
	fmt.Fprintf(m.out, "Benchmark%s %d %.5g %s\n", name, rounds, value, unit)
}

// Figures of rounds in a time.
func nanosecondsOf(took time.Duration, rounds int) float64 {
	return float64(took.Nanoseconds()) / float64(rounds)
}
func microsecondsOf(took time.Duration, rounds int) float64 { return nanosecondsOf(took, rounds) / 1e3 }
func millionsOf(took time.Duration, rounds int) float64     { return 1e3 / nanosecondsOf(took, rounds) }

// together runs f on so many OS threads, each on a core of its own while there are enough, and
// returns their errors.
func (m *meter) together(threads int, f func(thread int) error) error {
	errs := make([]error, threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			if errs[i] = pin(m.cores[i%len(m.cores)]); errs[i] == nil {
				errs[i] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// pin keeps the calling goroutine on a thread, which ends with it, and that on a CPU.
func pin(cpu int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("run on CPU %d: %w", cpu, err)
	}
	return nil
}
