// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ranges

import (
	"strconv"
	"strings"
)

// Parse reads one entry of a list, "5" or "0-2". ok is false for anything else, for numbers of more than 31 bits, and if
// the range runs backwards.
func Parse(part string) (first, last int, ok bool) {
	low, high, isRange := strings.Cut(part, "-")
	if !isRange {
		high = low
	}
	from, err1 := strconv.ParseUint(low, 10, 31)
	to, err2 := strconv.ParseUint(high, 10, 31)
	return int(from), int(to), err1 == nil && err2 == nil && from <= to
}

// Format writes numbers in their order; neighbours that count up by one become a range.
func Format(numbers []int) string {
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		part := strconv.Itoa(numbers[0])
		if n > 1 {
			part += "-" + strconv.Itoa(numbers[n-1])
		}
		parts = append(parts, part)
		numbers = numbers[n:]
	}
	return strings.Join(parts, ",")
}

// List writes numbers with commas between them, each by itself.
func List(numbers []int) string {
	words := make([]string, len(numbers))
	for i, number := range numbers {
		words[i] = strconv.Itoa(number)
	}
	return strings.Join(words, ",")
}
