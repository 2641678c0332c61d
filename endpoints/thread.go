// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

/*
#include "endpoint.h"

static int tpsl_slot_of(const struct tpsl_endpoint *ep) { return ep ? ep->slot : -1; }
static struct tpsl_endpoint *tpsl_of_thread(void) { return tpsl_self; }
*/
import "C"

// The life cycle as tests see it, since test files cannot hold cgo. Each function acts
// for the calling OS thread, which must be locked to the goroutine from bind on; slots
// are below Count.

func (e Endpoints) claim(slot int) bool { return bool(C.tpsl_endpoint_claim(e.at(slot))) }
func (e Endpoints) claimLowest() int    { return int(C.tpsl_slot_of(C.tpsl_endpoint_claim_lowest(e.c))) }
func (e Endpoints) bind(slot int)       { C.tpsl_endpoint_bind(e.at(slot)) }
func (e Endpoints) leave(slot int)      { C.tpsl_endpoint_leave(e.at(slot)) }
func (e Endpoints) switchTo(slot int)   { C.tpsl_endpoint_switch(e.at(slot)) }
func self() int                         { return int(C.tpsl_slot_of(C.tpsl_of_thread())) }

func (e Endpoints) adopt(slot, milliseconds int) bool {
	return bool(C.tpsl_endpoint_adopt(e.at(slot), C.int(milliseconds)))
}

func (e Endpoints) at(slot int) *C.struct_tpsl_endpoint { return C.tpsl_endpoint_at(e.c, C.int(slot)) }
