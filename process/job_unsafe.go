// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package process

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader
#include <stdlib.h>
#include <unistd.h>
#include "process.h"

static void tpsl_job_start(struct tpsl_job *job) { atomic_store(&job->uninitialized, job->nranks); }
*/
import "C"

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/tpsl/tpsl/internal/malloc"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/process/rankset"
)

// NewJob returns the struct tpsl_job of a rank set, in memory of C's. Ranks have no environment yet.
func NewJob(set *rankset.Set) unsafe.Pointer {
	n := len(set.Ranks)
	job := (*C.struct_tpsl_job)(C.calloc(1, C.sizeof_struct_tpsl_job))
	job.ranks = (*C.struct_tpsl_rank)(C.calloc(C.size_t(n), C.sizeof_struct_tpsl_rank))
	job.nranks = C.int(n)
	job.who, job.number, job.start = C.CString(who(set.Ranks)), C.CString(rankset.Setting(set.Own)), C.CString(set.Start())
	C.tpsl_wire_open(&job.control, C.int(set.ControlFD))
	C.tpsl_job_start(job)
	ranks := unsafe.Slice(job.ranks, n)
	for slot := range ranks {
		describe(&ranks[slot], set, slot)
	}
	return unsafe.Pointer(job)
}

// AddJob lets the launcher of a job know of errors of the runtime that end the process. The job is never freed.
func AddJob(job unsafe.Pointer) { C.tpsl_job_add((*C.struct_tpsl_job)(job)) }

// FreeJob gives a job back that was not added, without the environments, which its instances have taken over. Descriptors that
// the ranks have not closed are closed.
func FreeJob(job unsafe.Pointer) {
	j := (*C.struct_tpsl_job)(job)
	for _, r := range unsafe.Slice(j.ranks, int(j.nranks)) {
		if C.tpsl_wire_is_open(&r.pmi) {
			C.close(r.pmi.fd)
		}
		C.free(unsafe.Pointer(r.cpus))
	}
	for _, text := range []*C.char{j.who, j.number, j.start} {
		C.free(unsafe.Pointer(text))
	}
	C.free(unsafe.Pointer(j.ranks))
	C.free(unsafe.Pointer(j))
}

// who names the ranks of a process for messages.
func who(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return fmt.Sprintf("ranks %s (one process)", ranges.Format(ranks))
}

// describe fills in what the set says of a rank.
func describe(r *C.struct_tpsl_rank, set *rankset.Set, slot int) {
	r.slot, r.number = C.int(slot), C.int(set.Ranks[slot])
	pmi := -1
	if len(set.PMI) > 0 {
		pmi, _ = strconv.Atoi(set.PMI[slot]) // checked by rankset.Parse
	}
	C.tpsl_wire_open(&r.pmi, C.int(pmi))
	if len(set.CPUs) > 0 {
		r.cpus = C.CString(set.CPUs[slot])
	}
	r.stdin_fd, r.stdout_fd, r.stderr_fd = -1, 1, 2
	if slot == 0 {
		r.stdin_fd = 0
	}
	if len(set.Stdio) > 0 {
		own := set.Stdio[slot]
		r.stdin_fd, r.stdout_fd, r.stderr_fd = C.int(own.Stdin), C.int(own.Stdout), C.int(own.Stderr)
	}
}

// SetEnvironment gives a rank of a job its environment, "NAME=value" strings, in memory of malloc's.
func SetEnvironment(job unsafe.Pointer, slot int, environment []string) {
	j := (*C.struct_tpsl_job)(job)
	unsafe.Slice(j.ranks, int(j.nranks))[slot].environment = (**C.char)(malloc.Strings(environment))
}

// Exit ends the process without a line: who wants that has said why.
func Exit(code int) { C.tpsl_exit(C.int(code)) }

// Die ends the process and its jobs with a line, see tpsl_die.
func Die(code int, line string) {
	C.tpsl_die_with(C.int(code), C.CString(line))
}
