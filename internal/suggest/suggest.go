// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package suggest

// Nearest returns the candidate that is one or two edits away from a word: the nearest one, and of several that are
// equally near the first. It returns "" if there is none. A word of two or three letters may be one edit away only, since
// almost every other short word would do otherwise.
func Nearest(word string, candidates []string) string {
	nearest, least := "", min(3, len(word)/2+1)
	for _, candidate := range candidates {
		if edits := distance(word, candidate); edits < least {
			nearest, least = candidate, edits
		}
	}
	return nearest
}

// distance counts the insertions, deletions and replacements of bytes that turn a into b (Levenshtein's distance,
// computed one row of the matrix at a time).
func distance(a, b string) int {
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
