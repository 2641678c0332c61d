// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include "object.h"

// A scope of n objects, for Go to fill.
static struct tpsl_scope *tpsl_scope_new(size_t n) {
	struct tpsl_scope *s = calloc(1, sizeof *s + n * sizeof *s->objects);
	if (s)
		s->n = n;
	return s;
}

static void tpsl_scope_put(struct tpsl_scope *s, size_t i, struct tpsl_object *o) {
	s->objects[i] = o;
}
*/
import "C"

import (
	"slices"

	"github.com/tpsl/tpsl/loader/plan"
)

// scopes makes the lists of lookup of an instance, by the indices of its plan.
type scopes struct {
	plan    *plan.Plan
	objects []*C.struct_tpsl_object // by plan index
}

// scopes takes the objects that the instance has mapped, and those of ld.so's.
func (p *common) scopes(pl *plan.Plan, objects []*mapped) scopes {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := scopes{pl, make([]*C.struct_tpsl_object, len(objects))}
	for i, m := range objects {
		if m != nil {
			s.objects[i] = m.c
		} else {
			s.objects[i] = p.outside[pl.Objects[i].Name]
		}
	}
	return s
}

// of lists an object of the plan and what it needs, as dlsym searches a handle.
func (s scopes) of(o *plan.Object) (list []*C.struct_tpsl_object) {
	for _, i := range s.plan.Scope(slices.Index(s.plan.Objects, o)) {
		list = append(list, s.objects[i])
	}
	return list
}

// global returns the global scope, from malloc; nil: no memory.
func (s scopes) global() *C.struct_tpsl_scope {
	g := C.tpsl_scope_new(C.size_t(len(s.plan.Global)))
	for k, i := range s.plan.Global {
		if g != nil {
			C.tpsl_scope_put(g, C.size_t(k), s.objects[i])
		}
	}
	return g
}
