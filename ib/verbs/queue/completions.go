// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package queue

// #include "queue.h"
import "C"

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A Completion says what became of what was posted.
type Completion struct {
	ID     uint64
	Pair   uint32 // the number of its address
	Length int    // bytes of a message that was received
	Status Status
}

// A Status is 0 if all went well; enum ibv_wc_status.
type Status uint32

// What a Status may be, beside other ways to fail.
const (
	Fine        Status = C.IBV_WC_SUCCESS
	Flushed     Status = C.IBV_WC_WR_FLUSH_ERR  // the pair has failed before
	Unreachable Status = C.IBV_WC_RETRY_EXC_ERR // the other side has not answered
)

func (s Status) String() string { return C.GoString(C.ibv_wc_status_str(uint32(s))) }

// atOnce is how many completions are taken in one call.
const atOnce = 16

// Completions are a queue of what pairs have done.
type Completions struct {
	channel *C.struct_ibv_comp_channel
	queue   *C.struct_ibv_cq
	taken   [atOnce]C.struct_ibv_wc
}

// NewCompletions makes a queue with room for so many completions. All pairs together must not have more posted than that.
func (p *Port) NewCompletions(room int) (*Completions, error) {
	channel, err := C.ibv_create_comp_channel(p.domain.context)
	if channel == nil {
		return nil, fmt.Errorf("create a completion channel: %w", err)
	}
	c := &Completions{channel: channel}
	if err := unix.SetNonblock(c.File(), true); err != nil {
		C.ibv_destroy_comp_channel(channel)
		return nil, fmt.Errorf("create a completion channel: %w", err)
	}
	if c.queue, err = C.ibv_create_cq(p.domain.context, C.int(room), nil, channel, 0); c.queue == nil {
		C.ibv_destroy_comp_channel(channel)
		return nil, fmt.Errorf("create a completion queue of %d: %w", room, err)
	}
	return c, nil
}

// Poll takes completions into a slice, and returns how many. It is for one thread at a time.
func (c *Completions) Poll(into []Completion) (int, error) {
	n := C.tpsl_queue_poll(c.queue, C.int(min(len(into), atOnce)), &c.taken[0])
	if n < 0 {
		return 0, fmt.Errorf("poll a completion queue: it is broken")
	}
	for i := range c.taken[:n] {
		w := &c.taken[i]
		into[i] = Completion{ID: uint64(w.wr_id), Pair: uint32(w.qp_num), Length: int(w.byte_len), Status: Status(w.status)}
	}
	return int(n), nil
}

// File returns the file that has something to read when a completion has come since Arm.
func (c *Completions) File() int { return int(c.channel.fd) }

// Arm asks for the next completion to be told of. Look for those that have come before that.
func (c *Completions) Arm() { C.tpsl_queue_arm(c.queue) }

// Heed takes what the file has told.
func (c *Completions) Heed() { C.tpsl_queue_heed(c.channel, c.queue) }

// Close ends the queue.
//
// Preconditions: its pairs are closed.
func (c *Completions) Close() {
	C.ibv_destroy_cq(c.queue)
	C.ibv_destroy_comp_channel(c.channel)
}
