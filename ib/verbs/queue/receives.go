// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package queue

// #include "queue.h"
import "C"

import "fmt"

// Receives are memory for messages, which the pairs that share it take one after another: a shared receive queue. While it is used up
// those who send wait.
type Receives struct{ queue *C.struct_ibv_srq }

// NewReceives makes a queue with room for so many messages.
func (p *Port) NewReceives(room int) (*Receives, error) {
	attr := C.struct_ibv_srq_init_attr{attr: C.struct_ibv_srq_attr{max_wr: C.uint32_t(room), max_sge: 1}}
	queue, err := C.ibv_create_srq(p.domain, &attr)
	if queue == nil {
		return nil, fmt.Errorf("create a shared receive queue of %d: %w", room, err)
	}
	return &Receives{queue}, nil
}

// Post posts memory for a message. Its completion has the id, and names the pair that took it.
func (r *Receives) Post(id, at uint64, length int, key uint32) error {
	return failed("receive", C.tpsl_queue_receive(r.queue, C.uint64_t(id), C.uint64_t(at), C.uint32_t(length), C.uint32_t(key)))
}

// Close ends the queue.
//
// Preconditions: its pairs are closed.
func (r *Receives) Close() { C.ibv_destroy_srq(r.queue) }
