// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// A mode is a way to have ranks in one process, which is compared with flat.
type mode struct {
	name    string
	options func(t test) []string // of mpiexec
}

var (
	// A program with -rpp 1 is an ordinary process, so a single rank is the only one of a process for two.
	private = mode{"private", func(t test) []string { return []string{"-rpp", strconv.Itoa(max(t.ranks, 2)), "-tpsl", "private"} }}
	shared  = mode{"shared", func(t test) []string { return []string{"-rpp", strconv.Itoa(t.ranks)} }}
	modes   = map[string]mode{private.name: private, shared.name: shared}
)

// A comparison runs tests in its mode and flat.
type comparison struct {
	mode
	flat, ours *builder          // of programs
	known      map[string]result // tests that were run flat before; a test that ends as it did then is not run flat again
}

// newComparison compiles what all tests are linked with into folders below out.
func newComparison(l library, m mode, suite, out string) (*comparison, error) {
	flat, err := newBuilder(l, suite, out, flatTools{l.compiler})
	if err != nil || m.name == private.name {
		return &comparison{mode: m, flat: flat, ours: flat}, err
	}
	ours, err := newBuilder(l, suite, filepath.Join(out, "shared"), &sharedTools{})
	return &comparison{mode: m, flat: flat, ours: ours}, err
}

// each builds the tests' programs and hands each to do, in order, with what kept
// it from being built. The next ones are built while do works.
func (c *comparison) each(tests []test, do func(test, error) error) error {
	type built struct {
		test
		err error
	}
	ready := make(chan built, 8)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(ready)
		for _, t := range tests {
			select {
			case ready <- built{t, c.ours.build(t)}:
			case <-stop:
				return
			}
		}
	}()
	for r := range ready {
		if err := do(r.test, r.err); err != nil {
			return err
		}
	}
	return nil
}

// run runs a test, whose program is built, in c's mode and flat.
func (c *comparison) run(t test) result {
	r := result{test: t}
	var ours string
	r.ours, r.oursSeconds, ours = runOnce(c.ours.program(t), t, c.options(t)...)
	before, known := c.known[t.name()]
	r.flat, r.flatSeconds, r.note = before.flat, before.flatSeconds, ours
	if known && !r.differs() && !r.slow() {
		return r
	}
	var flat string
	if err := c.flat.build(t); err != nil {
		r.flat, r.note = notBuilt, err.Error()
		return r
	}
	r.flat, r.flatSeconds, flat = c.runFlat(t)
	if r.ours == pass && r.flat != pass {
		r.note = flat
	}
	return r
}

// runFlat runs a test flat. Ranks beyond the cores give way to each other when they have
// nothing to do, as those of the other modes do.
func (c *comparison) runFlat(t test) (status string, seconds float64, note string) {
	preload := c.flat.library.preload
	if shim, err := filepath.Abs(preload); err == nil && preload != "" && t.ranks > runtime.NumCPU() {
		t.env = append(slices.Clone(t.env), "LD_PRELOAD="+shim)
	}
	return runOnce(c.flat.program(t), t)
}

// left is the result of a test that cannot be built.
func (c *comparison) left(t test, why error) result {
	r := result{test: t, flat: notBuilt, ours: notBuilt, note: why.Error()}
	if before, known := c.known[t.name()]; known {
		r.flat, r.flatSeconds = before.flat, before.flatSeconds
	}
	return r
}
