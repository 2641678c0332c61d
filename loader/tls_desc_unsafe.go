// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include "object.h"

enum descriptor_form { STATIC_FORM, ABSENT_FORM, DYNAMIC_FORM };
static uintptr_t resolver_of(enum descriptor_form form) {
	void (*const resolvers[])(void) = {tpsl_tlsdesc_static, tpsl_tlsdesc_absent, tpsl_tlsdesc_dynamic};
	return (uintptr_t)resolvers[form];
}
*/
import "C"

import (
	"encoding/binary"
	"unsafe"

	"github.com/tpsl/tpsl/loader/plan"
)

// describe makes the TLS descriptors of the object: a resolver, and what it wants to
// know. That of a variable which is found by its module is in an array of ours.
func (m *mapped) describe(objects []*mapped, imports []uint64) {
	var stores []*plan.Store
	for i := range m.plan.Stores {
		switch s := &m.plan.Stores[i]; s.Kind {
		case plan.Descriptor, plan.DescriptorImported, plan.DescriptorAbsent:
			stores = append(stores, s)
		}
	}
	if len(stores) == 0 {
		return
	}
	m.c.descriptors = (*C.struct_tpsl_tls_index)(C.calloc(C.size_t(len(stores)), C.size_t(unsafe.Sizeof(C.struct_tpsl_tls_index{}))))
	indices := unsafe.Slice(m.c.descriptors, len(stores))
	for k, s := range stores {
		form, word := C.enum_descriptor_form(C.DYNAMIC_FORM), uint64(uintptr(unsafe.Pointer(&indices[k])))
		indices[k].offset = C.uintptr_t(s.Addend)
		switch {
		case s.Kind == plan.DescriptorAbsent:
			form, word = C.ABSENT_FORM, uint64(s.Addend)
		case s.Kind == plan.DescriptorImported:
			indices[k].module = C.uintptr_t(imports[s.Target])
		case objects[s.Target].plan.StaticTLS > 0:
			form, word = C.STATIC_FORM, objects[s.Target].threadOffset(s.Addend)
		default:
			indices[k].module = objects[s.Target].c.tls_module
		}
		at := m.mem[s.Offset-m.plan.Span.Vaddr:]
		binary.LittleEndian.PutUint64(at, uint64(C.resolver_of(form)))
		binary.LittleEndian.PutUint64(at[8:], word)
	}
}

// threadOffset is the distance of a byte of the object's TLS segment, which is in the
// static block, from the thread pointer.
func (m *mapped) threadOffset(at int64) uint64 {
	return uint64(int64(C.tpsl_static_tls_offset()) - int64(m.plan.StaticTLS) + at)
}
