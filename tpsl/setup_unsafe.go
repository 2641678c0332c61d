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
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/tpsl/tpsl/endpoints"
	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/internal/malloc"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/process"
	"github.com/tpsl/tpsl/process/limits"
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

// state is the process's, made by the first MPI call.
var state struct {
	set   *rankset.Set
	job   *C.struct_tpsl_job
	begin func() error // what comes before the first instance
	watch *watch
}

// tpslSetup reads what the launcher says, and makes the endpoints. folder is where what is installed beside the library lies.
//
//export tpslSetup
func tpslSetup(folder *C.char, cerr **C.char) *C.struct_tpsl_job {
	if err := setup(C.GoString(folder)); err != nil {
		*cerr = C.CString(err.Error())
	}
	return state.job
}

func setup(folder string) error {
	set, err := rankset.Parse(getenv)
	if err != nil {
		return err
	}
	if err := endpoints.Make(set.Ranks); err != nil {
		return err
	}
	collector.Rarely()
	set.Look()
	state.set = set
	state.begin = sync.OnceValue(begin)
	state.job = (*C.struct_tpsl_job)(process.NewJob(set))
	state.job.aborts = true
	state.job.verify = getenv("TPSL_VERIFY") == "1"
	state.job.libraries = (*C.struct_tpsl_libraries)(C.calloc(1, C.sizeof_struct_tpsl_libraries))
	return configure(folder)
}

// configure says what instances are made of. A single rank has the process to itself
// already.
func configure(folder string) error {
	policies, err := plan.ReadPolicies(getenv("TPSL_POLICY"), getenv("TPSL_PRIVATE"))
	if err != nil {
		return err
	}
	config, err := process.Config(state.set, folder, nil, getenv)
	if err != nil {
		return err
	}
	config.Policy, config.Unified = policies.Opened, names.Data
	config.Wrappers = loader.Wrappers{Libraries: openMPIInside, Functions: map[string]unsafe.Pointer{
		"opal_shmem_segment_create": C.tpsl_opal_segment_create,
		"opal_shmem_segment_attach": C.tpsl_opal_segment_attach,
	}}
	collectives, err := byMemory("TPSL_COLLECTIVES")
	if err != nil {
		return err
	}
	windows, err := byMemory("TPSL_WINDOWS")
	if err != nil {
		return err
	}
	if collectives && (len(state.set.Ranks) > 1 || state.set.Alike) {
		state.job.libraries.collectives = true
		state.job.libraries.alike = C.bool(state.set.Alike)
		state.job.libraries.yields = C.bool(slices.Contains(config.Preload, filepath.Join(folder, rankset.Yield)))
		wrap(&config.Wrappers, slices.Concat(C.tpsl_movements[:], C.tpsl_reductions[:]))
	}
	if windows && len(state.set.Ranks) > 1 {
		state.job.libraries.windows = true
		wrap(&config.Wrappers, C.tpsl_windows[:])
	}
	switch word := getenv("TPSL_PROGRESS"); word {
	case "", "own":
	case "neighbours":
		if len(state.set.Ranks) > 1 {
			enter(&config.Wrappers)
		}
	default:
		return fmt.Errorf("TPSL_PROGRESS=%s: want own or neighbours", word)
	}
	unlisted := setUnlisted(state.job.libraries)
	if len(state.set.Ranks) > 1 {
		stubs := unsafe.Slice((*uintptr)(unsafe.Pointer(&C.tpsl_private_stubs[0])), names.Private)
		d, err := loader.Divert(policies.Program, stubs[len(unlisted):])
		if err != nil {
			return err
		}
		if len(d.Libraries) > 0 {
			setPrivate(state.job.libraries, d)
			config.Program, config.Interposed = policies.Program, slices.Concat(append(names.Stubs(), unlisted)...)
		}
	}
	loader.Configure(config)
	return nil
}

// enter puts entries in front of the MPI library's functions, and of what already stands there.
func enter(w *loader.Wrappers) {
	l := state.job.libraries
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

// getenv is C's, which sees what the program has set: os.Getenv has what was there at the
// start.
func getenv(name string) string {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.GoString(C.getenv(c))
}

// tpslPrepare readies what the claim of a slot needs of Go: limits, the watch and the MPI library's file at the first
// claim, and the environment of each rank, which the program may have changed until then. It returns an error's line
// from malloc, nil for none.
//
//export tpslPrepare
func tpslPrepare(slot C.int) *C.char {
	if err := state.begin(); err != nil {
		return C.CString(err.Error())
	}
	process.SetEnvironment(unsafe.Pointer(state.job), int(slot), state.set.Environment(int(slot), getenv))
	return nil
}

func begin() error {
	if err := limits.Check(len(state.set.Ranks), state.set.LocalRanks); err != nil {
		return err
	}
	timeout, err := initTimeout(getenv("TPSL_INIT_TIMEOUT"))
	if err != nil {
		return err
	}
	state.watch = &watch{
		ranks:     state.set.Ranks,
		unclaimed: unclaimed,
		threads:   getenv("OMP_NUM_THREADS"),
		say:       func(line string) { fmt.Fprintln(os.Stderr, "tpsl: "+line) },
		end:       func(line string) { process.Die(255, line) },
	}
	state.watch.start(noticeAfter, timeout)
	path, abi, err := findLibrary()
	if err != nil {
		return err
	}
	state.job.libraries.mpi, state.job.libraries.standard = C.CString(path), abi == mpilib.Standard
	return checkProtocol(path, abi)
}

// checkProtocol refuses a library whose ranks would not find each other, as each would be a job of one. Most libraries of
// MPICH's ABI know PMI.
func checkProtocol(path string, abi mpilib.ABI) error {
	if state.set.PMIx {
		return checkPMIx(path, abi)
	}
	if len(state.set.PMI) == 0 || state.set.Size == 1 || abi != mpilib.Standard && !mpilib.MaySpeakPMIx(path) {
		return nil
	}
	library, err := mpilib.Of(path, loader.SearchPath())
	if err == nil && library.Protocol == mpilib.PMIx {
		err = fmt.Errorf("%s speaks PMIx (%s), and the launcher serves PMI to its ranks: each would be a job of one; give the program itself to mpiexec, without -pmi, or name a library that speaks PMI in TPSL_MPI_LIBRARY",
			path, library.Implementation)
	}
	return err
}

// checkPMIx does so where the launcher serves PMIx. A task that is alone needs no launcher, whatever that serves.
func checkPMIx(path string, abi mpilib.ABI) error {
	number := func(name string) int { n, _ := strconv.Atoi(getenv(name)); return n }
	tasks := cmp.Or(number("OMPI_COMM_WORLD_SIZE"), number("SLURM_STEP_NUM_TASKS"))
	if len(state.set.Ranks) == 1 && tasks < 2 || mpilib.MaySpeakPMIx(path) {
		return nil
	}
	if abi == mpilib.Standard {
		if library, err := mpilib.Of(path, loader.SearchPath()); err != nil || library.Protocol != mpilib.PMI {
			return err
		}
	}
	return fmt.Errorf("%s speaks PMI, and the launcher serves PMIx to its ranks: each would be a job of one; start with srun --mpi=pmi2 or tpsl's mpiexec", path)
}

// tpslStandardVersion tells the version of the MPI standard that the MPI library has, from its file. It returns an error's
// line from malloc, nil for none.
//
//export tpslStandardVersion
func tpslStandardVersion(version, subversion *C.int) *C.char {
	path, _, err := findLibrary()
	if err != nil {
		return C.CString(err.Error())
	}
	major, minor, err := mpilib.StandardVersion(path)
	if err != nil {
		return C.CString(err.Error())
	}
	*version, *subversion = C.int(major), C.int(minor)
	return nil
}

// linked tells whether the process is linked with an MPI library of this name, or with its stand-in.
func linked(soname string) bool {
	c := C.CString(soname)
	defer C.free(unsafe.Pointer(c))
	return bool(C.tpsl_linked(c))
}

// findLibrary returns the file of the MPI library, and the ABI that the program was built for.
func findLibrary() (path string, abi mpilib.ABI, err error) {
	if abi, err = mpilib.Wanted(linked); err != nil {
		return "", abi, fmt.Errorf("the program is %w", err)
	}
	var needed []string
	program, err := image.Open("/proc/self/exe")
	if err == nil {
		defer program.Close()
		needed = program.Needed
		program.Path, err = os.Executable() // for $ORIGIN
	}
	if err != nil {
		program = nil // its own search path is unknown then
	}
	path, err = mpilib.Find(getenv("TPSL_MPI_LIBRARY"), abi, needed, mpilib.Finder(loader.SearchPath(), program))
	return path, abi, err
}

// initTimeout reads TPSL_INIT_TIMEOUT: seconds, 0 for no limit.
func initTimeout(text string) (time.Duration, error) {
	if text == "" {
		return defaultTimeout, nil
	}
	n, err := rankset.Number("TPSL_INIT_TIMEOUT", text)
	return time.Duration(n) * time.Second, err
}

func unclaimed() (slots []int) {
	for i := range endpoints.Count() {
		if endpoints.StateOf(i) == endpoints.Free {
			slots = append(slots, i)
		}
	}
	return slots
}

// tpslAllInitialized tells that all ranks have initialised MPI. Their libraries have opened what they open, and what
// that took is given back.
//
//export tpslAllInitialized
func tpslAllInitialized() {
	state.watch.stop()
	collector.Settle(0)
}

// tpslVerify ends the job when a pointer of one instance leads into another.
//
//export tpslVerify
func tpslVerify(rank C.int) {
	if err := loader.Verify(); err != nil {
		process.Die(1, fmt.Sprintf("rank %d: %v", rank, err))
	}
}
