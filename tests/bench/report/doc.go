// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package report measures in turns and says what came out: it makes a folder with the raw
// figures, a summary and plots of them, and tells which goals are reached.
//
// A goal is a bound for a median or for a ratio. The summary is made of the raw file alone, so
// it can be made anew elsewhere.
package report
