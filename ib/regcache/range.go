// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"fmt"
	"math"
	"os"
)

// A Range is the addresses from Start up to End, without End.
type Range struct{ Start, End uint64 }

// Len returns the number of bytes.
func (r Range) Len() int64 { return int64(r.End - r.Start) }

func (r Range) String() string { return fmt.Sprintf("%#x-%#x", r.Start, r.End) }

func (r Range) overlaps(s Range) bool { return r.Start < s.End && s.Start < r.End }
func (r Range) covers(s Range) bool   { return r.Start <= s.Start && s.End <= r.End }
func (r Range) valid() bool           { return r.Start < r.End && r.End <= math.MaxInt64 }

var page = uint64(os.Getpagesize())

// pages returns the whole pages that r lies on. Preconditions: r is valid.
func (r Range) pages() Range {
	return Range{r.Start &^ (page - 1), (r.End + page - 1) &^ (page - 1)}
}
