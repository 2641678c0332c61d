// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

type options struct {
	crew.Options
	chunk, interval int
}

// found is what a search finds, and how often nodes were stolen.
type found struct {
	totals
	thefts int64
}

// A worker is a thread that counts, the first of its port's.
type worker struct {
	options
	m     *crew.Member
	tree  *tree
	seen  totals
	stack []node
	larder
	thief
	ring
}

// search counts the nodes of a tree; the result is where rank 0 is.
func search(o options, t *tree) (is crew.Outcome, all found, err error) {
	workers := make([]*worker, o.Ranks)
	for i := range workers {
		workers[i] = &worker{options: o, tree: t}
	}
	is, err = crew.Run(o.Options, func(m *crew.Member) error {
		w := workers[m.Rank%o.Ranks] // each process has as many
		if m.Rank == 0 && m.Mate == 0 {
			w.stack = []node{t.root()}
		}
		if m.Mate > 0 {
			return w.serveAll(m)
		}
		w.m = m
		if err := w.count(); err != nil {
			return err
		}
		sum, err := w.sum()
		if m.Rank == 0 {
			all = sum
		}
		return err
	})
	return is, all, err
}

// count visits nodes until nobody has any.
func (w *worker) count() error {
	if err := w.open(); err != nil {
		return err
	}
	for over := false; !over; {
		err := w.work()
		if err == nil {
			over, err = w.seek()
		}
		if err != nil {
			return err
		}
	}
	return w.close()
}

// work visits nodes until there are none here.
func (w *worker) work() error {
	for {
		for range w.interval {
			if len(w.stack) == 0 {
				if w.stack = w.takeBack(w.stack); len(w.stack) == 0 {
					return nil
				}
			}
			last := len(w.stack) - 1
			w.stack = w.tree.visit(w.stack[last], &w.seen, w.stack[:last])
		}
		w.stack = w.offer(w.stack, w.chunk)
		w.m.GiveWay()
		if err := w.serve(); err != nil {
			return err
		}
	}
}

// sum adds up what all have seen.
func (w *worker) sum() (all found, err error) {
	values := make([]int64, 3+w.m.Size)
	values[0], values[1], values[2], values[3+w.m.Rank] = w.seen.nodes, w.seen.leaves, w.thefts, w.seen.depth
	if err := w.m.Sum(values); err != nil {
		return all, err
	}
	all.nodes, all.leaves, all.thefts = values[0], values[1], values[2]
	for _, depth := range values[3:] {
		all.depth = max(all.depth, depth)
	}
	return all, nil
}
