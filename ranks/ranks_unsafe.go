// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ranks

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -I${SRCDIR}/../include
#include <stdlib.h>
#include "run.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/cgo"
	"strings"
	"unsafe"
)

// exitPanic is the exit status of a Go program that panics.
const exitPanic = 2

// An Option changes how ranks are made.
type Option func(*job)

// ThreadLevel has the ranks ask for a thread level: C.MPI_THREAD_SERIALIZED... Without it they ask for MPI_THREAD_SINGLE.
func ThreadLevel(level int) Option { return func(j *job) { j.level = level } }

// CPUs pins each rank to a list of CPUs, as in "0-1;2,4". Without it ranks run where the process may.
func CPUs(lists string) Option { return func(j *job) { j.cpus = lists } }

// A job is the ranks of one call.
type job struct {
	f     func(rank int) error
	errs  []error // by rank
	level int
	cpus  string
}

// Run calls f on n new ranks, whose MPI_COMM_WORLD is a job of its own, and returns when all have returned. MPI is initialised when f is
// called, and finalised afterwards. The error has what f returned on each rank that failed, in the order of ranks: [errors.Is] and [errors.As] find
// it. It is also about a program that is not built with tpslcc, a number of ranks below 1, and a call by f itself.
//
// Run may be called again, and by several goroutines at a time: each call is another job.
func Run(n int, f func(rank int) error, options ...Option) error {
	switch {
	case C.tpsl_ranks_linked() == 0:
		return errors.New("run ranks: the program is not linked with libtpsl; build it with CC=tpslcc")
	case f == nil:
		return errors.New("run ranks: there is no function to run")
	case n < 1:
		return fmt.Errorf("run %d ranks: want 1 or more", n)
	case C.tpsl_ranks_self() >= 0:
		return fmt.Errorf("run ranks: the caller is rank %d of another job; call Run from a goroutine that is no rank", C.tpsl_ranks_self())
	}
	j := &job{f: f, errs: make([]error, n)}
	for _, option := range options {
		option(j)
	}
	handle := cgo.NewHandle(j)
	defer handle.Delete()
	cpus := C.CString(j.cpus)
	defer C.free(unsafe.Pointer(cpus))
	C.tpsl_ranks_run(C.int(n), C.uintptr_t(handle), C.int(j.level), cpus)
	return errors.Join(j.errs...)
}

// tpslRank is called on each rank's thread.
//
//export tpslRank
func tpslRank(handle C.uintptr_t) {
	j, rank := cgo.Handle(handle).Value().(*job), int(C.tpsl_ranks_self())
	returned := false
	defer func() {
		if !returned {
			die(rank, recover())
		}
	}()
	if err := j.f(rank); err != nil {
		j.errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
	}
	returned = true
}

// die ends the process for a function that has not returned. A nil reason: it ended its goroutine.
func die(rank int, reason any) {
	what := "ended its goroutine, as runtime.Goexit and testing's FailNow do: let it return"
	if reason != nil {
		what = fmt.Sprintf("panicked at %s: %v", place(), reason)
	}
	fmt.Fprintf(os.Stderr, "tpsl: rank %d: the function %s\n", rank, strings.ReplaceAll(what, "\n", "; "))
	os.Exit(exitPanic)
}

// place returns file and line of what panicked, below the calls of the runtime.
func place() string {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	for panicking := false; ; {
		frame, more := frames.Next()
		if panicking && !strings.HasPrefix(frame.Function, "runtime.") || !more {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		panicking = panicking || frame.Function == "runtime.gopanic"
	}
}
