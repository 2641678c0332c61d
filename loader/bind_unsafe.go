// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include "dl.h"
#include "libc.h"

static const struct tpsl_rebinding *tpsl_first_rebinding(void) {
	return tpsl_rebindings;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/tpsl/tpsl/loader/plan"
)

func rebindings() []C.struct_tpsl_rebinding {
	return unsafe.Slice(C.tpsl_first_rebinding(), int(C.tpsl_nrebindings))
}

func reboundPrivately() []string { return reboundIn(C.TPSL_REBIND_PRIVATE) }
func reboundOnce() []string      { return reboundIn(C.TPSL_REBIND_ONCE) }
func reboundProcess() []string   { return reboundIn(C.TPSL_REBIND_PROCESS) }

func reboundIn(scope C.int) (names []string) {
	for _, r := range rebindings() {
		if r.scope&scope != 0 {
			names = append(names, C.GoString(r.name))
		}
	}
	return names
}

func rebindAddress(name string) unsafe.Pointer {
	for _, r := range rebindings() {
		if C.GoString(r.name) == name {
			return r.function
		}
	}
	return nil
}

// bind finds the address of every import of a plan in this process. known are the
// values of the plan it extends.
func (p *common) bind(r *recipe, pl *plan.Plan, known []uint64) error {
	if _, done := p.values[pl]; done {
		return nil
	}
	for _, o := range pl.Objects[pl.FirstNew:] {
		if o.Placement == plan.Shared {
			if err := p.openShared(o); err != nil {
				return err
			}
		}
	}
	values := append(make([]uint64, 0, len(pl.Imports)), known...)
	var errs []error
	for _, imp := range pl.Imports[len(known):] {
		v := p.value(r, imp)
		if v == 0 && !imp.Weak {
			errs = append(errs, missing(imp))
		}
		values = append(values, v)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	p.values[pl] = values
	return nil
}

func missing(imp plan.Import) error {
	name := imp.Name
	if imp.Version != "" {
		name += "@" + imp.Version
	}
	if imp.Source == plan.ThreadOffsetOf {
		return fmt.Errorf("%s: wants %s of %s at a fixed distance from the thread pointer (initial-exec), where ld.so does not have it: link the program with %[3]s",
			imp.Wanted, name, imp.Library)
	}
	return fmt.Errorf("%s: symbol %s: defined by no library and not by the program", imp.Wanted, name)
}

func (p *common) openShared(o *plan.Object) error {
	if p.handles[o.Name] != nil {
		return nil
	}
	name := C.CString(o.Name)
	defer C.free(unsafe.Pointer(name))
	h := C.tpsl_ldso_dlopen(name, C.RTLD_LAZY|C.RTLD_NOLOAD)
	if h == nil {
		path := C.CString(o.Path)
		defer C.free(unsafe.Pointer(path))
		if h = C.tpsl_ldso_dlopen(path, C.RTLD_LAZY); h == nil {
			return fmt.Errorf("open shared library: %s", C.GoString(C.dlerror()))
		}
	}
	c := C.tpsl_ldso_object_new(h, C.bool(o.CLibrary))
	if c == nil {
		return fmt.Errorf("open shared library %s: no memory", o.Path)
	}
	p.handles[o.Name], p.outside[o.Name] = h, c
	return nil
}

func (p *common) value(r *recipe, imp plan.Import) uint64 {
	switch imp.Source {
	case plan.FromRebind:
		return uint64(uintptr(rebindAddress(imp.Name)))
	case plan.TLSModuleOf:
		return uint64(C.tpsl_imported_tls_module(p.handles[imp.Library]))
	}
	name := C.CString(imp.Name)
	defer C.free(unsafe.Pointer(name))
	var version *C.char
	if imp.Version != "" {
		version = C.CString(imp.Version)
		defer C.free(unsafe.Pointer(version))
	}
	switch imp.Source {
	case plan.FromWrapper:
		return uint64(uintptr(C.tpsl_wrapper(r.wrappers, name)))
	case plan.ThreadOffsetOf:
		return uint64(C.tpsl_imported_thread_offset(p.handles[imp.Library], name, version))
	}
	return uint64(uintptr(C.tpsl_imported_symbol(p.handles[imp.Library], name, version)))
}
