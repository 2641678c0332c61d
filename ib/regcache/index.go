// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

// An index is regions in the order of their addresses. They do not overlap. It does not
// change once the cache shows it.
type index []entry

// An entry repeats the range, so that a search reads no regions.
type entry struct {
	Range
	region *Region
}

// after returns the place of the first region that ends after an address.
func (x index) after(address uint64) int {
	low, high := 0, len(x)
	for low < high {
		middle := int(uint(low+high) / 2)
		if x[middle].End > address {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// overlapping returns the regions that have a page in r.
func (x index) overlapping(r Range) index {
	first := x.after(r.Start)
	last := first
	for last < len(x) && x[last].Start < r.End {
		last++
	}
	return x[first:last]
}

// with returns a new index: r in place of the regions that it overlaps.
func (x index) with(r *Region) index {
	first := x.after(r.Range.Start)
	rest := x[first+len(x.overlapping(r.Range)):]
	out := make(index, 0, first+1+len(rest))
	out = append(out, x[:first]...)
	out = append(out, entry{r.Range, r})
	return append(out, rest...)
}
