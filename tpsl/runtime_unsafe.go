// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader -I${SRCDIR}/../endpoints -I${SRCDIR}/../include
#include <stdlib.h>
#include "dispatch.h"

void tpsl_die_with(int code, const char *message);
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tpsl/tpsl/endpoints"
	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/tpsl/library"
	"github.com/tpsl/tpsl/tpsl/limits"
	"github.com/tpsl/tpsl/tpsl/names"
	"github.com/tpsl/tpsl/tpsl/rankset"
)

// state is the process's, made by the first MPI call.
var state struct {
	set     *rankset.Set
	verify  bool
	library func() (string, error)
	begin   func() error // limits, the watch: before the first instance
	watch   *watch

	initialized []atomic.Bool // by slot
	missing     atomic.Int32  // ranks that have not initialised MPI
}

//export tpslSetup
func tpslSetup() *C.char {
	set, err := rankset.Parse(getenv)
	if err == nil {
		err = endpoints.Make(set.Ranks)
	}
	if err == nil && getenv("TPSL_CHECK") == "1" && !C.tpsl_check_start() {
		err = errors.New("TPSL_CHECK: no memory")
	}
	if err != nil {
		return C.CString(err.Error())
	}
	collector.Rarely()
	set.Look()
	state.set = set
	state.verify = getenv("TPSL_VERIFY") == "1"
	state.library = sync.OnceValues(findLibrary)
	state.begin = sync.OnceValue(begin)
	state.initialized = make([]atomic.Bool, len(set.Ranks))
	state.missing.Store(int32(len(set.Ranks)))
	for _, word := range set.PMI {
		fd, _ := strconv.Atoi(word) // checked by parseRankSet
		C.tpsl_add_pmi_fd(C.int(fd))
	}
	C.tpsl_set_control_fd(C.int(set.ControlFD))
	C.tpsl_set_process_peers(C.bool(set.Peers))
	if err := configure(); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// configure says what instances are made of. A single rank has the process to itself
// already.
func configure() error {
	policies, err := plan.ReadPolicies(getenv("TPSL_POLICY"), getenv("TPSL_PRIVATE"))
	if err != nil {
		return err
	}
	yields, err := state.set.Yields(C.GoString(C.tpsl_folder()), getenv)
	if err != nil {
		return err
	}
	huge, err := rankset.HugeText(getenv)
	if err != nil {
		return err
	}
	config := loader.Config{Policy: policies.Opened, Unified: names.Data, Preload: yields, HugeText: huge, Refused: warn}
	if len(state.set.Ranks) > 1 {
		d, err := loader.Divert(policies.Program, unsafe.Slice((*uintptr)(unsafe.Pointer(&C.tpsl_private_stubs[0])), names.Private))
		if err != nil {
			return err
		}
		if len(d.Libraries) > 0 {
			setPrivate(d)
			config.Program, config.Interposed = policies.Program, slices.Concat(names.Stubs()...)
		}
	}
	loader.Configure(config)
	return nil
}

// setPrivate tells the C side of the program's private libraries.
func setPrivate(d *plan.Diversion) {
	for _, l := range d.Libraries {
		C.tpsl_add_private_library(C.CString(l.Path), C.CString(l.Prepare))
	}
	for _, f := range d.Functions {
		C.tpsl_add_private_function(C.CString(f.Name), C.int(f.Library))
	}
	for _, v := range d.Variables {
		C.tpsl_add_private_variable(C.CString(v.Name), C.int(v.Library), C.size_t(v.Size))
	}
}

// getenv is C's, which sees what the program has set: os.Getenv has what was there at the
// start.
func getenv(name string) string {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.GoString(C.getenv(c))
}

// findLibrary returns the file of the MPI library.
func findLibrary() (string, error) {
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
	return library.Find(getenv("TPSL_MPI_LIBRARY"), needed, library.Finder(loader.SearchPath(), program))
}

func begin() error {
	if err := limits.Check(len(state.set.Ranks), state.set.LocalRanks); err != nil {
		return err
	}
	timeout, err := initTimeout(getenv("TPSL_INIT_TIMEOUT"))
	if err != nil {
		return err
	}
	C.tpsl_watch_faults()
	state.watch = &watch{
		ranks:     state.set.Ranks,
		unclaimed: unclaimed,
		threads:   getenv("OMP_NUM_THREADS"),
		say:       func(line string) { fmt.Fprintln(os.Stderr, "tpsl: "+line) },
		end:       func(line string) { die(255, line) },
	}
	state.watch.start(noticeAfter, timeout)
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

func warn(err error) { fmt.Fprintln(os.Stderr, "tpsl:", err) }

func unclaimed() (slots []int) {
	for i := range endpoints.Count() {
		if endpoints.StateOf(i) == endpoints.Free {
			slots = append(slots, i)
		}
	}
	return slots
}

func die(code int, line string) {
	c := C.CString(line)
	C.tpsl_die_with(C.int(code), c)
}

// tpslPrepare readies what the claim of a slot needs: the MPI library's file, the
// rank's CPUs (nil: not pinned) and its environment, all from malloc.
//
//export tpslPrepare
func tpslPrepare(slot C.int, library, cpus **C.char, environment ***C.char, cerr **C.char) C.bool {
	if err := state.begin(); err != nil {
		*cerr = C.CString(err.Error())
		return false
	}
	path, err := state.library()
	if err != nil {
		*cerr = C.CString(err.Error())
		return false
	}
	*library = C.CString(path)
	if len(state.set.CPUs) > 0 {
		*cpus = C.CString(state.set.CPUs[slot])
	}
	*environment = cStrings(state.set.Environment(int(slot), getenv))
	return true
}

// cStrings copies a list into a NULL-terminated array from malloc.
func cStrings(list []string) **C.char {
	array := (**C.char)(C.calloc(C.size_t(len(list)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	to := unsafe.Slice(array, len(list))
	for i, s := range list {
		to[i] = C.CString(s)
	}
	return array
}

// tpslClaimed tells that a slot is bound.
//
//export tpslClaimed
func tpslClaimed(C.int) {
	if len(unclaimed()) == 0 {
		state.watch.stop()
	}
}

// tpslInitialized tells that a rank has initialised MPI, or once more by a session. When all
// ranks have, which it returns once, their libraries have opened what they open, and what that
// took is given back.
//
//export tpslInitialized
func tpslInitialized(slot C.int) C.bool {
	if state.initialized[slot].Swap(true) || state.missing.Add(-1) != 0 {
		return false
	}
	collector.Settle(0)
	return true
}

// tpslVerify ends the job when a pointer of one instance leads into another, if
// TPSL_VERIFY=1 asks for the proof.
//
//export tpslVerify
func tpslVerify(rank C.int) {
	if !state.verify {
		return
	}
	if err := loader.Verify(); err != nil {
		die(1, fmt.Sprintf("rank %d: %v", rank, err))
	}
}
