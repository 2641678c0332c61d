// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package numbers

import "strconv"

// Thousands writes a number with a comma before each group of three digits: 1,234,567.
func Thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	grouped := digits[:(len(digits)-1)%3+1]
	for rest := digits[len(grouped):]; rest != ""; rest = rest[3:] {
		grouped += "," + rest[:3]
	}
	return grouped
}

// Short writes a number in at most width characters, which are four or more: in full, or rounded to thousands (k),
// millions (M) and so on, in the smallest of these units that fits.
func Short(n uint64, width int) string {
	digits := strconv.FormatUint(n, 10)
	unit := uint64(1)
	for _, letter := range "kMGTPE" {
		if len(digits) <= width {
			break
		}
		unit *= 1000
		rounded := n / unit
		if n%unit >= unit/2 {
			rounded++
		}
		digits = strconv.FormatUint(rounded, 10) + string(letter)
	}
	return digits
}
