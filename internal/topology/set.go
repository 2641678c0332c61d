// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 32)
		last, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || first > last || last >= maxID {
			return nil, fmt.Errorf("%q is not a number or range below %d", part, maxID)
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, int(n))
		}
		if len(numbers) > maxID {
			return nil, fmt.Errorf("%q names numbers twice", list)
		}
	}
	return NewSet(numbers...), nil
}

// String writes the set as ParseSet reads it.
func (s Set) String() string {
	var parts []string
	for len(s) > 0 {
		n := 1
		for n < len(s) && s[n] == s[0]+n {
			n++
		}
		part := strconv.Itoa(s[0])
		if n > 1 {
			part += "-" + strconv.Itoa(s[n-1])
		}
		parts = append(parts, part)
		s = s[n:]
	}
	return strings.Join(parts, ",")
}

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
