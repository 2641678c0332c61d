// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include "object.h"

// tpsl_open for a thread that goes on as what it was.
static struct tpsl_instance *tpsl_open_for_call(const char *library, char **environment, char **error) {
	struct tpsl_instance *before = tpsl_current;
	struct tpsl_instance *in = tpsl_open(0, library, environment, error);
	tpsl_become(before);
	return in;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/tpsl/tpsl/internal/malloc"
)

// An Instance is one private copy of a library and of the private libraries of
// its closure. Several goroutines may use one instance at a time if its code allows
// it.
type Instance struct {
	c    *C.struct_tpsl_instance
	path string
}

// What callers branch on.
var (
	ErrNoSymbol = errors.New("symbol not found") // no private object of the instance defines it
	ErrClosed   = errors.New("the instance is closed")
)

// Open makes a new instance of library, a file or a name that ld.so would find, and runs
// its constructors, on the calling thread. What is missing or not supported in the library
// or its closure is told in one error, before any constructor runs. environment lists "NAME=value" strings that getenv
// gives inside the instance in place of the process's own.
func Open(library string, environment ...string) (*Instance, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var cerr *C.char
	c := C.tpsl_open_for_call(name, (**C.char)(malloc.Strings(environment)), &cerr)
	if c == nil {
		defer C.free(unsafe.Pointer(cerr))
		return nil, fmt.Errorf("load %s: %s", library, C.GoString(cerr))
	}
	return &Instance{c, library}, nil
}

// Symbol returns the address of a function or variable of the instance, by its name in
// the symbol table: nm -D has those of Fortran and C++. The address is good until Close.
func (i *Instance) Symbol(name string) (uintptr, error) {
	if i.c == nil {
		return 0, fmt.Errorf("%s in %s: %w", name, i.path, ErrClosed)
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	p := uintptr(C.tpsl_instance_symbol(i.c, c, nil))
	if p == 0 {
		return 0, fmt.Errorf("%s in %s: %w", name, i.path, ErrNoSymbol)
	}
	return p, nil
}

// Call calls a function of the instance, with the calling thread acting for it. The
// function takes up to six integers or pointers and returns one or nothing. A C int is
// the lower half of the result, int32(v), and the upper half is anything.
func (i *Instance) Call(function string, arguments ...uintptr) (uintptr, error) {
	fn, err := i.Symbol(function)
	if err != nil {
		return 0, err
	}
	var a [6]C.uintptr_t
	if len(arguments) > len(a) {
		return 0, fmt.Errorf("call %s: %d arguments, at most %d", function, len(arguments), len(a))
	}
	for k, v := range arguments {
		a[k] = C.uintptr_t(v)
	}
	return uintptr(C.tpsl_instance_call(i.c, C.uintptr_t(fn), &a[0])), nil
}

// Close runs what the instance registered with atexit and its destructors, and takes it
// out of memory. An instance stays there if objects placed once refer to it, or if another
// thread has been in its handler of a signal for a second. No thread
// may be inside the instance otherwise, or come to it later: one that the instance made and that
// still runs, a pointer to its data. A second call does nothing.
func (i *Instance) Close() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if i.c != nil {
		C.tpsl_instance_close(i.c)
	}
	i.c = nil
}
