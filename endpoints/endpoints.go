// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror
#include <stdlib.h>
#include "endpoint.h"

static int tpsl_state_of(int slot) { return atomic_load(&tpsl_endpoint_at(slot)->state); }
*/
import "C"

import "errors"

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

// Make makes the process's endpoints, slot i with the world rank ranks[i]. It is
// called once.
func Make(ranks []int) error {
	c := make([]C.int, len(ranks))
	for i, r := range ranks {
		c[i] = C.int(r)
	}
	if !C.tpsl_endpoints_make(C.int(len(c)), &c[0]) {
		return errors.New("no memory for endpoints")
	}
	return nil
}

// Count returns the number of slots, 0 before Make.
func Count() int { return int(C.tpsl_endpoints_count()) }

// StateOf returns the state of a slot below Count.
func StateOf(slot int) State { return State(C.tpsl_state_of(C.int(slot))) }
