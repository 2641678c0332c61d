// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// numbers give C a number in place of a pointer. None is used twice, so the table has a word for each that there ever
// was. Reading takes no lock.
type numbers[T any] struct {
	kind  string
	lock  sync.Mutex
	table atomic.Pointer[[]*T]
}

// add returns the number of the first of some things; the others follow.
func (n *numbers[T]) add(things ...*T) (first uint64) {
	n.lock.Lock()
	defer n.lock.Unlock()
	table := n.all()
	first = uint64(len(table)) + 1
	table = slices.Concat(table, things)
	n.table.Store(&table)
	return first
}

// drop ends the use of count numbers.
func (n *numbers[T]) drop(first, count uint64) {
	n.lock.Lock()
	defer n.lock.Unlock()
	table := slices.Clone(n.all())
	clear(table[first-1:][:count])
	n.table.Store(&table)
}

// find returns what has a number.
func (n *numbers[T]) find(number uint64) (*T, error) {
	table := n.all()
	if number-1 >= uint64(len(table)) { // 0, too
		return nil, refusal{invalid, fmt.Sprintf("the %s is none: take one that the library has given", n.kind)}
	}
	found := table[number-1]
	if found == nil {
		return nil, refusal{isClosed, "the job has ended, and so have its ports"}
	}
	return found, nil
}

func (n *numbers[T]) all() []*T {
	if t := n.table.Load(); t != nil {
		return *t
	}
	return nil
}
