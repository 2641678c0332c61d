// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror
#include <stdlib.h>
#include "endpoint.h"

static int tpsl_state_of(struct tpsl_endpoints *e, int slot) { return atomic_load(&tpsl_endpoint_at(e, slot)->state); }
*/
import "C"

import (
	"errors"
	"unsafe"
)

// State is where an endpoint is in its life.
type State int

// The states, as in endpoint.h.
const (
	Free    State = C.TPSL_FREE
	Claimed State = C.TPSL_CLAIMED
	Bound   State = C.TPSL_BOUND
	Ended   State = C.TPSL_ENDED
)

func (s State) String() string {
	return [...]string{"free", "claimed", "bound", "ended"}[s]
}

// Endpoints are those of a job.
type Endpoints struct{ c *C.struct_tpsl_endpoints }

// Make makes the endpoints of a job, slot i with the world rank ranks[i].
func Make(ranks []int) (Endpoints, error) {
	c := make([]C.int, len(ranks))
	for i, r := range ranks {
		c[i] = C.int(r)
	}
	e := C.tpsl_endpoints_make(C.int(len(c)), &c[0])
	if e == nil {
		return Endpoints{}, errors.New("no memory for endpoints")
	}
	return Endpoints{e}, nil
}

// Pointer returns the struct tpsl_endpoints, for C.
func (e Endpoints) Pointer() unsafe.Pointer { return unsafe.Pointer(e.c) }

// Count returns the number of slots.
func (e Endpoints) Count() int { return int(e.c.count) }

// StateOf returns the state of a slot below Count.
func (e Endpoints) StateOf(slot int) State { return State(C.tpsl_state_of(e.c, C.int(slot))) }

// Free gives the endpoints back. Preconditions: no thread owns one of them or acts for one.
func (e Endpoints) Free() { C.tpsl_endpoints_free(e.c) }
