// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import "errors"

// What callers branch on. The errors that wrap them name the process and say what to do.
var (
	ErrGone      = errors.New("there is no such process here")
	ErrDenied    = errors.New("its memory may not be read")
	ErrNoRank    = errors.New("it is no MPI rank")
	ErrNoFrames  = errors.New("frame numbers are hidden")
	errNotYet    = errors.New(" yet: it has not called MPI_Init")
	errNotNow    = errors.New(" now: its calls of TPSL_Run have returned")
	errMalformed = errors.New("malformed")
	errNoCensus  = errors.New("no census")
	errTooLarge  = errors.New("too large to be read page by page: this kernel has no PAGEMAP_SCAN")
)

// MayHaveRanks tells whether an error of Job or Ranks is that of a process without ranks that may have some later.
func MayHaveRanks(err error) bool { return errors.Is(err, errNotYet) || errors.Is(err, errNotNow) }
