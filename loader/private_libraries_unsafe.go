// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include <sys/mman.h>
#include "dl.h"

// Stores a word, also where relocation is over and the page is sealed.
static bool tpsl_store(uintptr_t where, uintptr_t value, bool sealed, size_t page) {
	void *start = (void *)(where & -page);
	if (sealed && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	*(uintptr_t *)where = value;
	return !sealed || mprotect(start, page, PROT_READ) == 0;
}
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/tpsl/tpsl/loader/plan"
)

// Divert leads the process's references to functions of the program's private
// libraries to stubs: function i, by name the i-th of the result's Functions, to
// stubs[i]. References that another library stands in front of are left to it.
func Divert(policy plan.Policy, stubs []uintptr) (*plan.Diversion, error) {
	d, err := plan.Divert(loadedObjects(), policy)
	if err != nil {
		return nil, err
	}
	if len(d.Functions) > len(stubs) {
		return nil, fmt.Errorf("the program uses %d functions of private libraries, %d are possible", len(d.Functions), len(stubs))
	}
	own := make([]bool, len(d.Functions))
	for i, f := range d.Functions {
		own[i] = definedIn(f.Name, d.Libraries)
	}
	for _, r := range d.References {
		if own[r.Function] && !bool(C.tpsl_store(C.uintptr_t(r.Address), C.uintptr_t(stubs[r.Function]), C.bool(r.Sealed), C.size_t(pageSize))) {
			return nil, fmt.Errorf("lead %s to the copy of each rank: its word at %#x cannot be written", d.Functions[r.Function].Name, r.Address)
		}
	}
	return d, nil
}

// loadedObjects lists what ld.so has mapped from files.
func loadedObjects() (list []plan.Loaded) {
	for m := C.tpsl_program_map(); m != nil; m = m.l_next {
		path := C.GoString(m.l_name)
		if len(list) == 0 {
			path = "/proc/self/exe"
		}
		if strings.Contains(path, "/") { // not the vdso
			list = append(list, plan.Loaded{Path: path, Base: uint64(m.l_addr)})
		}
	}
	return list
}

// definedIn tells whether the process's definition of a function is one of the libraries'.
func definedIn(name string, libraries []plan.Library) bool {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var info C.Dl_info
	if C.dladdr(C.tpsl_process_symbol(c, nil), &info) == 0 {
		return false
	}
	file := C.GoString(info.dli_fname)
	for _, l := range libraries {
		if l.Path == file {
			return true
		}
	}
	return false
}
