// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Process is what a process maps. Several processes that share an address space, as the
// ranks of private mode do, are one.
type Process struct {
	PID     int      `json:"pid"`
	Command string   `json:"command"`
	Ranks   []Rank   `json:"ranks"`
	Rows    []*Row   `json:"rows"`        // in the order of owners
	Total   Figures  `json:"total"`       // of all rows
	Tables  uint64   `json:"page_tables"` // VmPTE; what Total lacks of it maps nothing any more
	Sources []Source `json:"sources"`
	Partial []string `json:"partial,omitempty"` // what is not in the figures, and why

	spans []span // of owners other than rest
	rest  Owner  // of what is in no span
	same  string // alike in processes that share the address space; "": it has its own
}

// Rank is a rank that runs in the process.
type Rank struct {
	Rank   int `json:"rank"`
	Job    int `json:"job,omitempty"` // of which call of TPSL_Run, counted from 1; 0: of the process's own job
	Thread int `json:"thread"`        // of private mode process, in the namespace of the process; 0: has none
}

// Row sums the pages of one segment of an object that are there for one owner.
type Row struct {
	Owner   Owner  `json:"owner"`
	Object  string `json:"object"`  // a path, or what memory without a file is for
	Segment string `json:"segment"` // text, rodata, relro, data, bss; or the permissions
	Figures
}

// Source says where figures come from, and what could not be known.
type Source struct {
	Figures string `json:"figures"`
	From    string `json:"from"`
	Unknown string `json:"unknown,omitempty"`
}

// Read reads a process. What can be read in part is, and Partial says what lacks.
func (p Proc) Read(pid int) (*Process, error) {
	r, err := p.begin(pid)
	if err != nil {
		return nil, err
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.Process, nil
}

// begin finds out who owns what in a process; finish reads how much that is.
func (p Proc) begin(pid int) (*reading, error) {
	s, err := p.status(pid)
	if err != nil {
		return nil, err
	}
	if !s.hasVM {
		return nil, fmt.Errorf("process %d (%s): %w: it has no memory any more", pid, s.name, ErrGone)
	}
	r := &reading{proc: p, status: s, Process: &Process{PID: pid, Command: s.name, Tables: s.tables}}
	return r, r.survey()
}

func (r *reading) finish() error {
	if err := r.measure(); err != nil {
		return err
	}
	if after, err := r.proc.status(r.PID); err != nil || after.born != r.status.born || !after.hasVM {
		return fmt.Errorf("process %d (%s): %w: it ended while it was read", r.PID, r.Command, ErrGone)
	}
	if !r.isCurrent() {
		r.partial("ranks: %v", errMoving)
	}
	return nil
}

// isCurrent tells whether the census says what it said at the beginning.
func (r *reading) isCurrent() bool {
	if r.census == nil {
		return true
	}
	f, err := os.Open(r.proc.path(r.PID, "mem"))
	if err != nil {
		return false
	}
	defer f.Close()
	return r.census.isCurrent(memory{f})
}

// partial notes what the figures lack.
func (r *Process) partial(format string, a ...any) {
	r.Partial = append(r.Partial, fmt.Sprintf(format, a...))
}

// survey finds who owns what.
func (r *reading) survey() error {
	var l landmarks
	if err := r.mappings("maps", func(m *Mapping) error {
		l.note(m)
		return nil
	}); err != nil {
		return err
	}
	r.mayHaveRanks = l.mpi || len(l.libraries) > 0
	if len(l.libraries) == 0 {
		return r.single(l.mpi)
	}
	f, err := os.Open(r.proc.path(r.PID, "mem"))
	if err != nil {
		return r.proc.explain(r.PID, err)
	}
	defer f.Close()
	m := memory{f}
	c, err := m.census(l.libraries)
	if err != nil && !errors.Is(err, errNoCensus) {
		r.partial("ranks: %v", err)
	}
	if c == nil {
		return nil
	}
	if !c.describes(r.status.inner) {
		r.partial("ranks: the process was forked by that of ranks, and is none itself")
		return nil
	}
	r.census = c
	for _, rank := range c.ranks {
		r.Ranks = append(r.Ranks, rank.Rank)
	}
	r.Process.spans = c.spansOf(m, &l)
	r.spanWalk.spans = r.Process.spans
	if len(r.Ranks) > 0 {
		r.same = fmt.Sprint(c.process, c.once, r.Ranks[0].Rank)
	}
	return nil
}

// single makes all of a process with an MPI library the memory of its only rank.
func (r *reading) single(mpi bool) error {
	rank, found := r.proc.rankOf(r.PID)
	if mpi && found {
		r.Ranks = []Rank{{Rank: rank, Thread: r.status.inner}}
		r.rest = Owner{Kind: OfRank, Number: rank}
	}
	return nil
}

// census reads the first census that tells of ranks, else one that tells of none now.
func (m memory) census(libraries []uint64) (none *census, err error) {
	err = errNoCensus
	for _, base := range libraries {
		at, found := m.note(base)
		if found != nil {
			continue
		}
		c, bad := readCensus(m, at)
		if c != nil && len(c.ranks) > 0 {
			return c, bad
		}
		if !errors.Is(bad, errNoCensus) {
			none, err = c, bad
		}
	}
	return none, err
}

// mappings reads maps or smaps. A process that ends meanwhile has none.
func (r *reading) mappings(name string, each func(*Mapping) error) error {
	f, err := os.Open(r.proc.path(r.PID, name))
	if err != nil {
		return r.proc.explain(r.PID, err)
	}
	defer f.Close()
	n := 0
	err = ReadMappings(f, func(m *Mapping) error {
		n++
		return each(m)
	})
	if err != nil {
		return r.proc.explain(r.PID, err)
	}
	if n == 0 {
		return fmt.Errorf("process %d (%s): %w: it ended while it was read", r.PID, r.Command, ErrGone)
	}
	return nil
}

// optional opens a file that may be missing.
func (r *reading) optional(name string) io.ReadCloser {
	f, err := os.Open(r.proc.path(r.PID, name))
	if err != nil {
		return nil
	}
	return f
}

// sortRows puts ranks first, then copies, what is placed once, and the process.
func (r *Process) sortRows() {
	order := map[Kind]int{OfRank: 0, Copy: 1, Once: 2, OfProcess: 3}
	slices.SortStableFunc(r.Rows, func(a, b *Row) int {
		if a.Owner.Kind != b.Owner.Kind {
			return order[a.Owner.Kind] - order[b.Owner.Kind]
		}
		return cmp.Or(cmp.Compare(a.Owner.Job, b.Owner.Job), cmp.Compare(a.Owner.Number, b.Owner.Number))
	})
}
