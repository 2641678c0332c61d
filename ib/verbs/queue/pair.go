// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package queue

// #include "queue.h"
import "C"

import (
	"fmt"
	"math/rand/v2"
	"syscall"
)

// A Pair is one end of a reliable connection.
type Pair struct {
	port *Port
	pair *C.struct_ibv_qp
	psn  uint32
}

// NewPair makes a pair whose completions come to c, and whose messages come into the memory of r. At most so many sends and
// reads may be posted at a time: see Completions.
func (p *Port) NewPair(c *Completions, r *Receives, sends int) (*Pair, error) {
	attr := C.struct_ibv_qp_init_attr{send_cq: c.queue, recv_cq: c.queue, srq: r.queue, qp_type: C.IBV_QPT_RC}
	attr.cap = C.struct_ibv_qp_cap{max_send_wr: C.uint32_t(sends), max_send_sge: 1}
	pair, err := C.ibv_create_qp(p.domain, &attr)
	if pair == nil {
		return nil, fmt.Errorf("create a queue pair: %w", err)
	}
	q := &Pair{port: p, pair: pair, psn: rand.Uint32() & (1<<24 - 1)}
	if status := C.tpsl_queue_init(pair, p.number); status != 0 {
		q.Close()
		return nil, fmt.Errorf("create a queue pair: %w", syscall.Errno(status))
	}
	return q, nil
}

// Address returns where the pair is.
func (q *Pair) Address() Address {
	return Address{Number: uint32(q.pair.qp_num), PSN: q.psn, LID: q.port.lid, MTU: q.port.mtu, GID: q.port.gid}
}

// Connect connects the pair to another one, which does the same.
func (q *Pair) Connect(to Address) error {
	r := C.struct_tpsl_queue_route{port: q.port.number, gid_index: C.uint8_t(q.port.index), mtu: C.uint8_t(min(q.port.mtu, to.MTU)), lid: C.uint16_t(to.LID),
		number: C.uint32_t(to.Number), psn: C.uint32_t(to.PSN), own_psn: C.uint32_t(q.psn)}
	for i, b := range to.GID {
		r.gid[i] = C.uint8_t(b)
	}
	if status := C.tpsl_queue_connect(q.pair, &r); status != 0 {
		return fmt.Errorf("connect a queue pair: %w", syscall.Errno(status))
	}
	return nil
}

// Send sends memory as a message. Its completion has the id.
func (q *Pair) Send(id, at uint64, length int, key uint32) error {
	return failed("send", C.tpsl_queue_send(q.pair, C.uint64_t(id), C.uint64_t(at), C.uint32_t(length), C.uint32_t(key)))
}

// Read reads memory of the other side, by its address and its key there. Its completion has the id.
func (q *Pair) Read(id, at uint64, length int, key uint32, remote uint64, remoteKey uint32) error {
	return failed("read", C.tpsl_queue_read(q.pair, C.uint64_t(id), C.uint64_t(at), C.uint32_t(length), C.uint32_t(key), C.uint64_t(remote), C.uint32_t(remoteKey)))
}

func failed(what string, status C.int) error {
	if status != 0 {
		return fmt.Errorf("post a %s: %w", what, syscall.Errno(status))
	}
	return nil
}

// Stop ends what the pair does. When it returns the device reaches no memory by it any more. Completions of it may still come, which
// name it, as its number is no other pair's before Close.
func (q *Pair) Stop() { C.tpsl_queue_stop(q.pair) }

// Close ends the pair.
func (q *Pair) Close() { C.ibv_destroy_qp(q.pair) }
