// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"
)

func unknownOption(arg, name string) error {
	if near := nearest(strings.ToLower(name)); near != "" {
		return fmt.Errorf("unknown option %s; did you mean -%s?", arg, near)
	}
	return fmt.Errorf("unknown option %s; try mpiexec -h", arg)
}

// nearest returns the option name at edit distance 1 or 2 from name, or "".
func nearest(name string) string {
	best, least := "", min(3, len(name))
	for _, opt := range allOptions() {
		for _, candidate := range opt.names {
			if d := editDistance(name, candidate); d < least {
				best, least = candidate, d
			}
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements that turn a into b (Levenshtein, one row at a time).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
