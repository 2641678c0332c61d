// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include <string.h>
#include "dl.h"
#include "libc.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/tpsl/tpsl/loader/plan"
)

// instance is the Go side of a struct tpsl_instance.
type instance struct {
	recipe  *recipe
	plan    *plan.Plan // the newest: each dlopen extends it
	objects []*mapped  // by plan index; nil: shared
}

// open maps and relocates library for in and returns the new objects in the
// order of their start.
func (p *common) open(in *C.struct_tpsl_instance, number Recipe, library string) ([]*mapped, error) {
	p.mu.Lock()
	r := p.recipes[number]
	pl, err := p.planFor(r, library)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	in.rebound = C.TPSL_REBIND_PRIVATE
	if r.config.Processes {
		in.rebound = C.TPSL_REBIND_PROCESS
	}
	i := &instance{recipe: r}
	in.exec_stack = C.bool(pl.ExecStack)
	fresh, err := p.grow(in, i, pl)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.live[in] = i
	p.mu.Unlock()
	return fresh, nil
}

// extend opens one more library in a live instance. The handle is not nil when
// the library is shared, and then ld.so's. caller is the object that asks, nil: unknown;
// folder, its working directory.
// Preconditions: the instance's open_lock is held.
func (p *common) extend(in *C.struct_tpsl_instance, library, folder string, caller *C.struct_tpsl_object, mode C.int) (root *mapped, fresh []*mapped, handle unsafe.Pointer, err error) {
	p.mu.Lock()
	i := p.live[in]
	p.mu.Unlock()
	if i == nil {
		return nil, nil, nil, errors.New("the instance is not open")
	}
	path, at, err := i.plan.Find(library, i.planned(caller), folder)
	if err != nil {
		return nil, nil, nil, err
	}
	if at == plan.Shared {
		handle, err = dlopen(path, mode)
		return nil, nil, handle, err
	}
	if mode&C.RTLD_NOLOAD != 0 && !i.plan.Has(path) {
		return nil, nil, nil, fmt.Errorf("%s is not loaded", path)
	}
	pl, err := i.plan.Extend(path, plan.Opening{Global: mode&C.RTLD_GLOBAL != 0, Deep: mode&C.RTLD_DEEPBIND != 0, Folder: folder})
	if err != nil {
		return nil, nil, nil, err
	}
	p.mu.Lock()
	err = p.bind(i.recipe, pl, p.values[i.plan])
	p.mu.Unlock()
	if err != nil {
		return nil, nil, nil, err
	}
	if extended := i.recipe.config.Extended; extended != nil {
		extended()
	}
	if fresh, err = p.grow(in, i, pl); err != nil {
		return nil, nil, nil, err
	}
	return i.objects[pl.Root], fresh, nil, nil
}

// planned returns what the plan has of an object, nil: it is no object of the instance.
func (i *instance) planned(c *C.struct_tpsl_object) *plan.Object {
	for _, m := range i.objects {
		if m != nil && m.c == c {
			return m.plan
		}
	}
	return nil
}

func dlopen(path string, mode C.int) (unsafe.Pointer, error) {
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	h := C.tpsl_ldso_dlopen(c, mode)
	if h == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	return h, nil
}

// grow maps and relocates what pl adds to i, and publishes it. On error nothing
// of it stays mapped.
func (p *common) grow(in *C.struct_tpsl_instance, i *instance, pl *plan.Plan) (fresh []*mapped, err error) {
	if p.lacksOnce(pl) { // no other instance is to place it meanwhile
		p.placing.Lock()
		defer p.placing.Unlock()
	}
	objects := append([]*mapped(nil), i.objects...)
	objects = append(objects, make([]*mapped, len(pl.Objects)-len(objects))...)
	defer func() {
		if err != nil {
			for _, m := range fresh {
				m.discard()
			}
		}
	}()
	for _, k := range pl.Start {
		o := pl.Objects[k]
		if o.Placement == plan.Once {
			if m := p.placedOnce(o); m != nil {
				objects[k] = m
				continue
			}
		}
		m, err := mapObject(i.recipe, o)
		if err != nil {
			return fresh, fmt.Errorf("map %s: %w", o.Path, err)
		}
		objects[k] = m
		fresh = append(fresh, m)
	}
	p.mu.Lock()
	imports := p.values[pl]
	p.mu.Unlock()
	for _, m := range fresh {
		m.relocate(objects, imports)
	}
	scopes := p.scopes(pl, objects)
	for _, m := range fresh {
		m.copyData(objects, imports)
		m.finish(i.recipe, scopes)
	}
	if pl.StaticTLS > 0 && bool(in.without_switch) {
		return fresh, fmt.Errorf("%s: initial-exec thread-local storage needs threads that act for the instance, which those that call by TPSL_Dlsym do not: rebuild it with -ftls-model=global-dynamic", pl.Objects[pl.Root].Path)
	}
	if pl.StaticTLS > 0 && !bool(C.tpsl_static_tls_prepare(in)) {
		return fresh, errors.New("no memory for initial thread-local values")
	}
	var global *C.struct_tpsl_scope
	if i.plan == nil || len(i.plan.Global) < len(pl.Global) {
		if global = scopes.global(); global == nil {
			return fresh, errors.New("no memory for the global scope")
		}
	}
	if pl.StandIn != nil {
		in.stand_in = objects[slices.Index(pl.Objects, pl.StandIn)].c
	}
	if len(fresh) > 0 {
		p.publish(in, fresh, objects)
	}
	if global != nil {
		C.tpsl_set_global_scope(in, global)
	}
	p.mu.Lock()
	i.plan, i.objects = pl, objects
	p.mu.Unlock()
	return fresh, nil
}

// lacksOnce tells whether an instance of a plan places an object that no other has placed.
func (p *common) lacksOnce(pl *plan.Plan) bool {
	return slices.ContainsFunc(pl.Start, func(k int) bool {
		return pl.Objects[k].Placement == plan.Once && p.placedOnce(pl.Objects[k]) == nil
	})
}

func (p *common) placedOnce(o *plan.Object) *mapped {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.once[o.ID]
}

// publish makes the fresh ones of objects known to the C side, in the plan's order,
// which is that of symbol lookup.
func (p *common) publish(in *C.struct_tpsl_instance, fresh, objects []*mapped) {
	p.mu.Lock()
	defer p.mu.Unlock()
	C.tpsl_debugger_before(C.RT_ADD)
	defer C.tpsl_debugger_after()
	for _, m := range objects {
		if m == nil || !slices.Contains(fresh, m) {
			continue
		}
		owner := in
		if m.plan.Placement == plan.Once {
			owner = &C.tpsl_once
			in.stays = in.stays || C.bool(m.refersTo(objects, plan.Private))
			m.c.brought_by = in
			p.once[m.plan.ID] = m
		}
		C.tpsl_object_publish(owner, m.c)
	}
}

// refersTo tells whether an object has an address in objects of a placement.
func (m *mapped) refersTo(objects []*mapped, at plan.Placement) bool {
	return slices.ContainsFunc(m.plan.Stores, func(s plan.Store) bool {
		switch s.Kind {
		case plan.Local, plan.Module, plan.IFunc, plan.Descriptor:
			return objects[s.Target].plan.Placement == at
		}
		return false
	})
}

// forget drops an instance that was closed. When it returns nobody looks at the instance's memory, which may be unmapped
// next. What stays mapped has pointers to memory that may become another instance's.
func (p *common) forget(in *C.struct_tpsl_instance) {
	p.verifying.Lock()
	defer p.verifying.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, in)
}

//export tpslLoaderForget
func tpslLoaderForget(in *C.struct_tpsl_instance) { process.forget(in) }

//export tpslLoaderOpen
func tpslLoaderOpen(in *C.struct_tpsl_instance, recipe C.int, library *C.char, out ***C.struct_tpsl_object, n *C.size_t, cerr **C.char) C.bool {
	fresh, err := process.open(in, Recipe(recipe), C.GoString(library))
	if err != nil {
		*cerr = C.CString(oneLine(err))
		return false
	}
	*out, *n = objectList(fresh)
	return true
}

//export tpslLoaderExtend
func tpslLoaderExtend(in *C.struct_tpsl_instance, library, folder *C.char, caller *C.struct_tpsl_object, mode C.int, out ***C.struct_tpsl_object, n *C.size_t, outside *unsafe.Pointer, cerr **C.char) *C.struct_tpsl_object {
	root, fresh, handle, err := process.extend(in, C.GoString(library), C.GoString(folder), caller, mode)
	if err != nil {
		*cerr = C.CString(oneLine(err))
		return nil
	}
	*outside = handle
	*out, *n = objectList(fresh)
	if root == nil {
		return nil
	}
	return root.c
}

// objectList copies the objects into an array from malloc, for the C side to free.
func objectList(ms []*mapped) (**C.struct_tpsl_object, C.size_t) {
	list := make([]*C.struct_tpsl_object, len(ms))
	for i, m := range ms {
		list[i] = m.c
	}
	return array(list)
}

// oneLine joins the lines of an error that collects several.
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
