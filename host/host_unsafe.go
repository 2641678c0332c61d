// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package host

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/tpsl/limits"
	"github.com/tpsl/tpsl/tpsl/rankset"
)

// tpslHostBegin reads the rank set and readies the loader.
//
//export tpslHostBegin
func tpslHostBegin() *C.char {
	if err := begin(); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// tpslHostRuns tells that all ranks are up.
//
//export tpslHostRuns
func tpslHostRuns() { settle() }

// settle gives memory back when ranks have opened nothing for a while: as they initialise MPI, its
// libraries open others. The host has no other way to see them do so.
func settle() { collector.Settle(100 * time.Millisecond) }

func begin() error {
	collector.Rarely()
	set, err := rankset.Parse(os.Getenv)
	if err != nil {
		return err
	}
	set.Look()
	if err := limits.CheckPrivate(len(set.Ranks), set.LocalRanks, uint64(C.tpsl_files_of_ranks())); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder := filepath.Dir(self)
	first, err := set.Yields(folder, os.Getenv)
	if err != nil {
		return err
	}
	policies, err := plan.ReadPolicies(os.Getenv("TPSL_POLICY"), "")
	if err != nil {
		return err
	}
	huge, err := rankset.HugeText(os.Getenv)
	if err != nil {
		return err
	}
	heaps, err := plan.Outside(files(os.Getenv("LD_PRELOAD")))
	if err != nil {
		return err
	}
	loader.Configure(loader.Config{Policy: append(heaps, policies.Private...), Preload: append(files(os.Getenv("TPSL_TOOLS")), first...),
		StandIn: filepath.Join(folder, "libtpslshim.so"), Processes: true, Extended: settle,
		HugeText: huge, Refused: warn})
	C.tpsl_set_process_peers(C.bool(set.Peers))
	describe(set)
	return nil
}

func warn(err error) { fmt.Fprintln(os.Stderr, "tpsl:", err) }

// files returns the entries of a list as in LD_PRELOAD that are there. ld.so has told of the others.
func files(list string) (found []string) {
	for file := range strings.SplitSeq(list, ":") {
		if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
			found = append(found, file)
		}
	}
	return found
}

// describe fills the C side's struct tpsl_job.
func describe(set *rankset.Set) {
	n := len(set.Ranks)
	ranks := (*C.struct_tpsl_rank)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(C.struct_tpsl_rank{}))))
	pids := (*C.int)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(C.int(0)))))
	for slot := range n {
		r := &unsafe.Slice(ranks, n)[slot]
		r.slot, r.rank = C.int(slot), C.int(set.Ranks[slot])
		r.stdin_fd, r.stdout_fd, r.stderr_fd = -1, 1, 2
		if slot == 0 {
			r.stdin_fd = 0
		}
		if len(set.Stdio) > 0 {
			own := set.Stdio[slot]
			r.stdin_fd, r.stdout_fd, r.stderr_fd = C.int(own.Stdin), C.int(own.Stdout), C.int(own.Stderr)
		}
		if len(set.CPUs) > 0 {
			r.cpus = C.CString(set.CPUs[slot])
		}
		r.envp = cStrings(environment(os.Environ(), own(set, slot)))
		r.pid = &unsafe.Slice(pids, n)[slot]
	}
	if len(set.PMI) > 0 {
		pmi := (*C.int)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(C.int(0)))))
		for slot, word := range set.PMI {
			fd, _ := strconv.Atoi(word) // checked by rankset.Parse
			unsafe.Slice(pmi, n)[slot] = C.int(fd)
		}
		C.tpsl_job.pmi = pmi
	}
	C.tpsl_job.pids = pids
	C.tpsl_job.ids = (**C.int)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(uintptr(0)))))
	C.tpsl_job.ranks, C.tpsl_job.nranks, C.tpsl_job.control = ranks, C.int(n), C.int(set.ControlFD)
}

// own returns the settings that differ from the process's. What a rank starts preloads
// what the user wanted.
func own(set *rankset.Set, slot int) []string {
	env := set.Environment(slot, os.Getenv)
	if tools := os.Getenv("TPSL_TOOLS"); tools != "" {
		env = append(env, "LD_PRELOAD="+tools)
	}
	return env
}

// environment returns what a rank finds: the process's, with the rank's own settings in
// place, and without what is the host's business, as LD_PRELOAD is: own has the user's.
func environment(process, own []string) (env []string) {
	drop := map[string]bool{"LD_PRELOAD": true, "TPSL_CPUS": true, "TPSL_ENV": true, "TPSL_CONTROL_FD": true, "TPSL_STDIO": true, "TPSL_TOOLS": true}
	for _, e := range own {
		name, _, _ := strings.Cut(e, "=")
		drop[name] = true
	}
	for _, e := range process {
		if name, _, _ := strings.Cut(e, "="); !drop[name] {
			env = append(env, e)
		}
	}
	return append(env, own...)
}

// cStrings copies a list into a NULL-terminated array from malloc.
func cStrings(list []string) **C.char {
	array := (**C.char)(C.calloc(C.size_t(len(list)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	for i, s := range list {
		unsafe.Slice(array, len(list))[i] = C.CString(s)
	}
	return array
}
