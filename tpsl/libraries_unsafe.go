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
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/tpsl/tpsl/internal/malloc"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/process"
	"github.com/tpsl/tpsl/process/rankset"
	"github.com/tpsl/tpsl/tpsl/names"
)

// openMPIInside are the names of Open MPI's portability layer in versions that have a library with the standard ABI.
var openMPIInside = []string{"libopen-pal.so.40", "libopen-pal.so.80"}

// byMemory tells whether a variable says that functions of ours stand in front of the MPI library's.
func byMemory(variable string) (bool, error) {
	switch word := getenv(variable); word {
	case "", "library":
		return false, nil
	case "memory":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%s: want library or memory", variable, word)
	}
}

// wrap puts functions in front of the MPI library's.
func wrap(w *loader.Wrappers, wrappers []C.struct_tpsl_mpi_wrapper) {
	w.Libraries = slices.Concat(openMPIInside, soname.MPI)
	for _, wrapper := range wrappers {
		name := C.GoString(wrapper.name)
		w.Functions[name], w.Functions["P"+name] = wrapper.function, wrapper.function
	}
}

// ofRuns are the libraries of the jobs of TPSL_Run, which differ only in whether the ranks are crowded.
var ofRuns struct {
	sync.Mutex
	made map[bool]*C.struct_tpsl_libraries
}

// librariesOf returns what the instances of a job's ranks are made of. folder is where what is installed beside the library lies.
func librariesOf(set *rankset.Set, folder string) (*C.struct_tpsl_libraries, error) {
	if set.Own != rankset.Call {
		return newLibraries(set, folder, func(c loader.Config) loader.Recipe { loader.Configure(c); return 0 })
	}
	ofRuns.Lock()
	defer ofRuns.Unlock()
	if l := ofRuns.made[set.Crowded]; l != nil {
		return l, nil
	}
	l, err := newLibraries(set, folder, loader.Add)
	if err != nil {
		return nil, err
	}
	if ofRuns.made == nil {
		ofRuns.made = map[bool]*C.struct_tpsl_libraries{}
	}
	ofRuns.made[set.Crowded] = l
	return l, nil
}

// newLibraries says what instances are made of, in memory that is never freed. A single rank has the process to itself already, unless
// others may come.
func newLibraries(set *rankset.Set, folder string, add func(loader.Config) loader.Recipe) (*C.struct_tpsl_libraries, error) {
	several := len(set.Ranks) > 1 || set.Own == rankset.Call
	l := C.tpsl_libraries_new()
	if l == nil {
		return nil, errors.New("no memory for what ranks are made of")
	}
	policies, err := plan.ReadPolicies(getenv("TPSL_POLICY"), getenv("TPSL_PRIVATE"))
	if err != nil {
		return nil, err
	}
	config, err := process.Config(set, folder, nil, getenv)
	if err != nil {
		return nil, err
	}
	config.Policy, config.Unified = policies.Opened, names.Data
	config.Wrappers = loader.Wrappers{Libraries: openMPIInside, Functions: map[string]unsafe.Pointer{
		"opal_shmem_segment_create": C.tpsl_opal_segment_create,
		"opal_shmem_segment_attach": C.tpsl_opal_segment_attach,
	}}
	collectives, err := byMemory("TPSL_COLLECTIVES")
	if err != nil {
		return nil, err
	}
	windows, err := byMemory("TPSL_WINDOWS")
	if err != nil {
		return nil, err
	}
	if collectives && (several || set.Alike) {
		l.collectives = true
		l.alike = C.bool(set.Alike)
		l.yields = C.bool(slices.Contains(config.Preload, filepath.Join(folder, rankset.Yield)))
		wrap(&config.Wrappers, slices.Concat(C.tpsl_movements[:], C.tpsl_reductions[:]))
	}
	if windows && several {
		l.windows = true
		wrap(&config.Wrappers, C.tpsl_windows[:])
	}
	switch word := getenv("TPSL_PROGRESS"); word {
	case "", "own":
	case "neighbours":
		if several {
			enter(l, &config.Wrappers)
		}
	default:
		return nil, fmt.Errorf("TPSL_PROGRESS=%s: want own or neighbours", word)
	}
	unlisted := setUnlisted(l)
	d, err := divert(policies.Program, several, unlisted)
	if err != nil {
		return nil, err
	}
	if d != nil && len(d.Libraries) > 0 {
		setPrivate(l, d)
		config.Program, config.Interposed = policies.Program, slices.Concat(append(names.Stubs(), unlisted)...)
	}
	l.recipe = C.int(add(config))
	return l, nil
}

// diversion is what the program's references to its private libraries were led to.
var diversion struct {
	sync.Mutex
	found   *plan.Diversion // nil: they lead where ld.so has led them
	refused bool            // a rank uses the process's own copies
}

// divert leads the program's references to private libraries to stubs, once per process. A job of one rank that comes first leaves
// them; when another has led them away, it is as the others.
func divert(policy plan.Policy, several bool, unlisted []string) (*plan.Diversion, error) {
	diversion.Lock()
	defer diversion.Unlock()
	if diversion.found != nil {
		return diversion.found, nil
	}
	if !several {
		diversion.refused = true
		return nil, nil
	}
	stubs := unsafe.Slice((*uintptr)(unsafe.Pointer(&C.tpsl_private_stubs[0])), names.Private)
	d, err := loader.Divert(policy, stubs[len(unlisted):])
	if err != nil {
		return nil, err
	}
	if diversion.refused && len(d.Libraries) > 0 {
		return nil, fmt.Errorf("the first rank of this process uses the program's own copy of %s, of which each rank needs one: call TPSL_Run before the first MPI call of the program itself", d.Libraries[0].Path)
	}
	diversion.found = d
	return d, nil
}

// enter puts entries in front of the MPI library's functions, and of what already stands there.
func enter(l *C.struct_tpsl_libraries, w *loader.Wrappers) {
	l.progress = true
	w.Libraries = slices.Concat(openMPIInside, soname.MPI, []string{"libucp.so.0"})
	for i := range C.TPSL_NNAMES {
		name := C.GoString(C.tpsl_names[i].name)
		if entry := C.tpsl_progress_entry(C.int(i)); entry != nil {
			l.fronts[C.tpsl_names[i].stub] = w.Functions[name]
			w.Functions[name] = entry
		}
	}
	w.Functions["ucp_worker_progress"] = C.tpsl_ucp_worker_progress
}

// setUnlisted tells the C side which functions of the MPI library the stand-ins have stubs for, and returns their names.
func setUnlisted(l *C.struct_tpsl_libraries) (unlisted []string) {
	l.unlisted = C.tpsl_unlisted()
	for _, name := range unsafe.Slice(l.unlisted, names.Private) {
		if name == nil {
			break
		}
		unlisted = append(unlisted, C.GoString(name))
	}
	l.nunlisted = C.int(len(unlisted))
	return unlisted
}

// setPrivate tells the C side of the program's private libraries.
func setPrivate(l *C.struct_tpsl_libraries, d *plan.Diversion) {
	libraries := make([]C.struct_tpsl_private_library, len(d.Libraries))
	for i, p := range d.Libraries {
		libraries[i] = C.struct_tpsl_private_library{file: C.CString(p.Path), prepare: C.CString(p.Prepare)}
	}
	functions := make([]C.struct_tpsl_private_symbol, len(d.Functions))
	for i, f := range d.Functions {
		functions[i] = C.struct_tpsl_private_symbol{name: C.CString(f.Name), library: C.int(f.Library)}
	}
	variables := make([]C.struct_tpsl_private_symbol, len(d.Variables))
	for i, v := range d.Variables {
		name := C.CString(v.Name)
		variables[i] = C.struct_tpsl_private_symbol{name: name, library: C.int(v.Library), size: C.size_t(v.Size), address: C.tpsl_process_symbol(name, nil)}
	}
	l.private, l.nprivate = malloc.Array(libraries), C.int(len(libraries))
	l.functions, l.nfunctions = malloc.Array(functions), C.int(len(functions))
	l.variables, l.nvariables = malloc.Array(variables), C.int(len(variables))
}
