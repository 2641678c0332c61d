// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// maxID bounds the numbers in a list: Linux has at most 8,192 CPUs and 1,024 NUMA nodes.
const maxID = 1 << 16

// A Set is numbers of CPUs or NUMA nodes, ascending, none twice.
type Set []int

// NewSet makes a Set of numbers in any order.
func NewSet(numbers ...int) Set {
	s := slices.Clone(numbers)
	slices.Sort(s)
	return slices.Compact(s)
}

// ParseSet reads a list as the kernel and taskset(1) write it: 0-3,8.
func ParseSet(list string) (Set, error) {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, nil
	}
	var numbers []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, ok := ranges.Parse(part)
		if !ok || last >= maxID {
			return nil, fmt.Errorf("%q is not a number or range below %d", part, maxID)
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
		if len(numbers) > maxID {
			return nil, fmt.Errorf("%q names numbers twice", list)
		}
	}
	return NewSet(numbers...), nil
}

// String writes the set as ParseSet reads it.
func (s Set) String() string { return ranges.Format(s) }

// Has reports whether n is in the set.
func (s Set) Has(n int) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

// And returns what both sets have.
func (s Set) And(other Set) Set {
	var both Set
	for _, n := range s {
		if other.Has(n) {
			both = append(both, n)
		}
	}
	return both
}

// Or returns what either set has.
func (s Set) Or(other Set) Set { return NewSet(slices.Concat(s, other)...) }
