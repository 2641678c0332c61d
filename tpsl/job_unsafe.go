// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader -I${SRCDIR}/../process -I${SRCDIR}/../endpoints -I${SRCDIR}/../include
#include <stdlib.h>
#include "dispatch.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/tpsl/tpsl/endpoints"
	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/process"
	"github.com/tpsl/tpsl/process/limits"
	"github.com/tpsl/tpsl/process/rankset"
	"github.com/tpsl/tpsl/tpsl/ownjob"
)

// A job is the Go side of a struct tpsl_job.
type job struct {
	set       *rankset.Set
	c         *C.struct_tpsl_job
	endpoints endpoints.Endpoints
	begin     func() error // what comes before the first instance
	watch     *watch       // over slots that nobody claims; nil: those of the job are claimed by threads of ours
	server    *ownjob.Job  // nil: a launcher serves the ranks, or nobody
}

// jobs are those of the process, by their C side.
var jobs sync.Map

func jobOf(c *C.struct_tpsl_job) *job {
	j, _ := jobs.Load(c)
	return j.(*job)
}

func newJob(folder string, set *rankset.Set) (*job, error) {
	set.Look()
	libraries, err := librariesOf(set, folder)
	if err != nil {
		return nil, err
	}
	e, err := endpoints.Make(set.Ranks)
	if err != nil {
		return nil, err
	}
	j := &job{set: set, c: (*C.struct_tpsl_job)(process.NewJob(set)), endpoints: e}
	j.begin = sync.OnceValue(j.ready)
	j.c.verify = getenv("TPSL_VERIFY") == "1"
	j.c.libraries, j.c.endpoints = libraries, (*C.struct_tpsl_endpoints)(e.Pointer())
	jobs.Store(j.c, j)
	return j, nil
}

// newOwnJob makes a job whose ranks the process itself serves, and pins each to the CPUs of its list, if there are lists.
func newOwnJob(folder, own string, ranks int, cpus []string) (*job, error) {
	if err := limits.Check(ranks, ranks, rankset.Setting(own)); err != nil {
		return nil, err
	}
	if err := checkCPUs(own, cpus, ranks); err != nil {
		return nil, err
	}
	server, sessions, err := ownjob.New(ranks, ownjob.Handlers{
		Aborted: process.Exit,
		Warned:  func(line string) { fmt.Fprintln(os.Stderr, "tpsl: "+line) },
	})
	if err != nil {
		return nil, err
	}
	set := rankset.New(own, sessions)
	set.CPUs = cpus
	j, err := newJob(folder, set)
	if err != nil {
		return nil, err
	}
	j.server, j.c.own = server, true
	return j, nil
}

// checkCPUs tells what is wrong with the lists of CPUs of ranks, of which there may be none.
func checkCPUs(own string, lists []string, ranks int) error {
	if n := len(lists); n > 0 && n != ranks {
		what := fmt.Sprintf("lists for %d ranks", n)
		if n == 1 {
			what = "a list for 1 rank"
		}
		return fmt.Errorf("%s: the CPUs are %q, which are %s, and the job has %d: separate the lists of ranks by ;", own, strings.Join(lists, ";"), what, ranks)
	}
	for rank, list := range lists {
		set, err := topology.ParseSet(list)
		if err != nil || len(set) == 0 {
			return fmt.Errorf("%s: the CPUs of rank %d are %q: want numbers and ranges, as in 0-1,4", own, rank, list)
		}
		for _, cpu := range set {
			if !C.tpsl_was_allowed(C.int(cpu)) {
				return fmt.Errorf("%s: rank %d is to run on CPU %d, which this process may not use: nproc and taskset -p tell which it may", own, rank, cpu)
			}
		}
	}
	return nil
}

// tpslJobNew makes a job for TPSL_Run. cpus may be NULL. *cerr becomes an error's line from malloc.
//
//export tpslJobNew
func tpslJobNew(folder *C.char, ranks C.int, cpus *C.char, cerr **C.char) *C.struct_tpsl_job {
	collector.Rarely()
	err := refuseOtherMPI()
	var j *job
	if err == nil {
		var lists []string
		if cpus != nil {
			lists = strings.Split(C.GoString(cpus), ";")
		}
		j, err = newOwnJob(C.GoString(folder), rankset.Call, int(ranks), lists)
	}
	if err != nil {
		*cerr = C.CString(err.Error())
		return nil
	}
	return j.c
}

// tpslJobEnd frees a job of tpslJobNew, whose ranks have left.
//
//export tpslJobEnd
func tpslJobEnd(c *C.struct_tpsl_job) {
	j := jobOf(c)
	jobs.Delete(c)
	process.FreeJob(unsafe.Pointer(c))
	j.server.Close()
	j.endpoints.Free()
}

// tpslPrepare readies what the claim of a slot needs of Go: limits, the watch and the MPI library's file at the first
// claim of the job, and the environment of each rank, which the program may have changed until then. It returns an error's line
// from malloc, nil for none.
//
//export tpslPrepare
func tpslPrepare(c *C.struct_tpsl_job, slot C.int) *C.char {
	j := jobOf(c)
	if err := j.begin(); err != nil {
		return C.CString(err.Error())
	}
	process.SetEnvironment(unsafe.Pointer(c), int(slot), j.set.Environment(int(slot), getenv))
	return nil
}

func (j *job) ready() error {
	if j.set.Own == "" { // else it has been looked at before there were sessions
		if err := limits.Check(len(j.set.Ranks), j.set.LocalRanks, rankset.Setting(j.set.Own)); err != nil {
			return err
		}
	}
	if j.set.Own != rankset.Call {
		if err := j.startWatch(); err != nil {
			return err
		}
	}
	return findLibraryOf(j.set, j.c.libraries)
}

func (j *job) startWatch() error {
	timeout, err := initTimeout(getenv("TPSL_INIT_TIMEOUT"))
	if err != nil {
		return err
	}
	j.watch = &watch{
		ranks:     j.set.Ranks,
		number:    rankset.Setting(j.set.Own),
		unclaimed: j.unclaimed,
		threads:   getenv("OMP_NUM_THREADS"),
		say:       func(line string) { fmt.Fprintln(os.Stderr, "tpsl: "+line) },
		end:       func(line string) { process.Die(255, line) },
	}
	j.watch.start(noticeAfter, timeout)
	return nil
}

// initTimeout reads TPSL_INIT_TIMEOUT: seconds, 0 for no limit.
func initTimeout(text string) (time.Duration, error) {
	if text == "" {
		return defaultTimeout, nil
	}
	n, err := rankset.Number("TPSL_INIT_TIMEOUT", text)
	return time.Duration(n) * time.Second, err
}

func (j *job) unclaimed() (slots []int) {
	for i := range j.endpoints.Count() {
		if j.endpoints.StateOf(i) == endpoints.Free {
			slots = append(slots, i)
		}
	}
	return slots
}

// tpslAllInitialized tells that all ranks of a job have initialised MPI. Their libraries have opened what they open, and what
// that took is given back.
//
//export tpslAllInitialized
func tpslAllInitialized(c *C.struct_tpsl_job) {
	if w := jobOf(c).watch; w != nil {
		w.stop()
	}
	collector.Settle(0)
}

// tpslVerify ends the job when a pointer of one instance leads into another.
//
//export tpslVerify
func tpslVerify(rank C.int) {
	if err := loader.Verify(isRequestToken); err != nil {
		process.Die(1, fmt.Sprintf("rank %d: %v", rank, err))
	}
}
