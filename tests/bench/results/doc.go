// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package results reads what benchmarks measured, from Go benchmark lines, and
// computes medians and ratios of it.
//
// A turn is one run of every side. Values of one turn were measured soon after
// each other, so a ratio is taken turn by turn. A raw file is a header of
// "key: value" lines, then for each turn the comment "# turn 3" and its
// benchmark lines; a comment "# note: ..." tells the reader of the summary
// something. benchstat takes the whole file. What may differ between two runs
// that it compares, such as the date, is in the header as a comment.
//
// A Set may be used by one goroutine at a time.
package results
