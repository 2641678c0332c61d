// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tpsl/tpsl/process/rankset"
)

// Times of the watch over slots that nobody claims.
const (
	noticeAfter    = 10 * time.Second
	defaultTimeout = 120 * time.Second
)

// watch reports slots that stay unclaimed after the first claim, once, and ends the
// job when they stay so too long: the other ranks would wait for them for ever.
type watch struct {
	ranks     []int
	number    string       // what says how many there are
	unclaimed func() []int // slots
	threads   string       // OMP_NUM_THREADS
	say       func(string)
	end       func(string)
	timers    []*time.Timer
}

// start begins the watch. A timeout of 0 or less never ends the job; one that comes first is the only word.
func (w *watch) start(notice, timeout time.Duration) {
	say := sync.OnceFunc(func() { w.tell(w.say, notice) })
	if timeout > 0 {
		w.timers = append(w.timers, time.AfterFunc(timeout, func() {
			if notice < timeout {
				say() // of two timers that are late, any may come first
			}
			w.tell(w.end, timeout)
		}))
	}
	if timeout <= 0 || notice < timeout {
		w.timers = append(w.timers, time.AfterFunc(notice, say))
	}
}

func (w *watch) stop() {
	for _, t := range w.timers {
		t.Stop()
	}
}

func (w *watch) tell(to func(string), after time.Duration) {
	if slots := w.unclaimed(); len(slots) > 0 {
		to(w.message(slots, after))
	}
}

func (w *watch) message(slots []int, after time.Duration) string {
	var who []string
	for _, s := range slots {
		who = append(who, fmt.Sprintf("rank %d (slot %d)", w.ranks[s], s))
	}
	threads := "OMP_NUM_THREADS is not set"
	if w.threads != "" {
		threads = "OMP_NUM_THREADS=" + w.threads
	}
	return fmt.Sprintf("%v after the first MPI_Init of this process no thread has claimed %s; %s; a process with %d ranks needs MPI_Init on %d threads: run that many, or a smaller %s",
		after, strings.Join(who, ", "), threads, len(w.ranks), len(w.ranks), w.number) + w.hint(len(slots))
}

// hint says what else may be wrong where only one of several ranks has come: a flat program does this.
func (w *watch) hint(unclaimed int) string {
	if len(w.ranks) < 2 || unclaimed != len(w.ranks)-1 {
		return ""
	}
	switch w.number {
	case rankset.Variable:
		return "; is the program written for one rank per process? then unset TPSL_RANKS"
	case rankset.Team:
		return "; is only one thread of the team to be a rank? then it calls MPI_Init outside of the parallel region, or start the program with mpiexec"
	}
	return "; is the program written for one rank per process? then start it with -rpp 1, or build it with mpicc for private mode"
}
