// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package host

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader -I${SRCDIR}/../process
#include "host.h"
*/
import "C"

import (
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/process"
	"github.com/tpsl/tpsl/process/limits"
	"github.com/tpsl/tpsl/process/rankset"
)

// tpslHostBegin reads what the launcher says and readies the loader.
//
//export tpslHostBegin
func tpslHostBegin(cerr **C.char) *C.struct_tpsl_job {
	job, err := begin()
	if err != nil {
		*cerr = C.CString(err.Error())
	}
	return (*C.struct_tpsl_job)(job)
}

// tpslHostRuns tells that all ranks are up.
//
//export tpslHostRuns
func tpslHostRuns() { settle() }

// settle gives memory back when ranks have opened nothing for a while: as they initialise MPI, its
// libraries open others. The host has no other way to see them do so.
func settle() { collector.Settle(100 * time.Millisecond) }

func begin() (job unsafe.Pointer, err error) {
	collector.Rarely()
	set, err := rankset.Parse(os.Getenv)
	if err != nil {
		return nil, err
	}
	set.Look()
	if err := limits.CheckPrivate(len(set.Ranks), set.LocalRanks, uint64(C.tpsl_files_of_ranks()), set.PMIx); err != nil {
		return nil, err
	}
	if err := configure(set); err != nil {
		return nil, err
	}
	job = process.NewJob(set)
	process.AddJob(job)
	for slot := range set.Ranks {
		process.SetEnvironment(job, slot, environment(os.Environ(), own(set, slot)))
	}
	return job, nil
}

// configure says what instances are made of.
func configure(set *rankset.Set) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder := filepath.Dir(self)
	config, err := process.Config(set, folder, files(os.Getenv("TPSL_TOOLS")), os.Getenv)
	if err != nil {
		return err
	}
	policies, err := plan.ReadPolicies(os.Getenv("TPSL_POLICY"), "")
	if err != nil {
		return err
	}
	heaps, err := plan.Outside(files(os.Getenv("LD_PRELOAD")))
	if err != nil {
		return err
	}
	config.Policy = append(heaps, policies.Private...)
	config.Wrappers = loader.Wrappers{Libraries: soname.Flat, Functions: map[string]unsafe.Pointer{
		"MPI_Init": C.tpsl_rank_MPI_Init, "PMPI_Init": C.tpsl_rank_PMPI_Init,
		"MPI_Init_thread": C.tpsl_rank_MPI_Init_thread, "PMPI_Init_thread": C.tpsl_rank_PMPI_Init_thread,
	}}
	config.StandIn, config.Processes, config.Extended = filepath.Join(folder, "libtpslshim.so"), true, settle
	loader.Configure(config)
	return nil
}

// files returns the entries of a list as in LD_PRELOAD that are there. ld.so has told of the others.
func files(list string) (found []string) {
	for file := range strings.SplitSeq(list, ":") {
		if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
			found = append(found, file)
		}
	}
	return found
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
	drop := map[string]bool{"LD_PRELOAD": true, "TPSL_ALIKE": true, "TPSL_CPUS": true, "TPSL_ENV": true, "TPSL_CONTROL_FD": true, "TPSL_STDIO": true, "TPSL_TOOLS": true}
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
