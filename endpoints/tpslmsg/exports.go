// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

// #cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I${SRCDIR}/../../include
// #include "tpslmsg.h"
import "C"

import (
	"time"
	"unsafe"
)

// What calls.c calls. Pointers are not NULL, counts are positive, and times are limited: it has looked.

//export tpsl_msg_start
func tpsl_msg_start(here C.int, shared C.int, nanoseconds C.int64_t, number *C.uint64_t, to say) C.int {
	w, err := start(int(here), shared != 0, time.Duration(nanoseconds))
	if err != nil {
		return refuse(to, err)
	}
	*number = C.uint64_t(w.number)
	return C.TPSLMSG_OK
}

//export tpsl_msg_end
func tpsl_msg_end(number C.uint64_t, to say) C.int {
	w, err := works.find(uint64(number))
	if err == nil {
		err = w.end()
	}
	return told(to, err)
}

//export tpsl_msg_ranks
func tpsl_msg_ranks(number C.uint64_t, first, here, size *C.int, to say) C.int {
	w, err := works.find(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	*first, *here, *size = C.int(w.job.First), C.int(len(w.ports)), C.int(w.job.Fabric.Size())
	return C.TPSLMSG_OK
}

//export tpsl_msg_open
func tpsl_msg_open(number C.uint64_t, rank C.int, port *C.uint64_t, to say) C.int {
	w, err := works.find(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	of, err := w.numberOf(int(rank))
	if err == nil {
		*port = C.uint64_t(of)
	}
	return told(to, err)
}

//export tpsl_msg_register
func tpsl_msg_register(number C.uint64_t, memory unsafe.Pointer, bytes C.size_t, key *C.struct_tpslmsg_key, to say) C.int {
	p, err := call(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	defer p.leave()
	return told(to, p.register(memory, bytes, key))
}

//export tpsl_msg_unregister
func tpsl_msg_unregister(number C.uint64_t, key *C.struct_tpslmsg_key, to say) C.int {
	p, err := call(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	defer p.leave()
	return told(to, p.unregister(key))
}

//export tpsl_msg_post
func tpsl_msg_post(number C.uint64_t, ops *C.struct_tpslmsg_op, count C.int, to say) C.int {
	p, err := call(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	n, err := p.post(unsafe.Slice(ops, int(count)))
	p.leave()
	if n == 0 {
		return refuse(to, err)
	}
	return C.int(n)
}

// Why tpsl_msg_reap is to be called again: it polled in vain, or something moves still.
const (
	waitsIdle = 1
	waitsBusy = 2
)

// tpsl_msg_reap sets *waits if it has not found enough: then the caller is in the port still, and calls again. If the time is
// over, it sets 0.
//
//export tpsl_msg_reap
func tpsl_msg_reap(number C.uint64_t, completions *C.struct_tpslmsg_completion, least, most, over C.int, waits *C.int, to say) C.int {
	enter := call
	if *waits != 0 {
		enter = ports.find
	}
	p, err := enter(uint64(number))
	if err != nil {
		return refuse(to, err)
	}
	polls := vainPolls
	if over != 0 {
		polls = 1
	}
	n, vain := p.reap(unsafe.Slice(completions, int(most)), int(least), polls)
	ends := p.work.ends.Load()
	if n < int(least) && over == 0 && !ends {
		*waits = waitsBusy
		if vain {
			*waits = waitsIdle
		}
		return C.int(n)
	}
	*waits = 0
	p.leave()
	if n == 0 && ends {
		return refuse(to, p.ending())
	}
	return C.int(n)
}

// told is refuse, if there is an error.
func told(to say, err error) C.int {
	if err != nil {
		return refuse(to, err)
	}
	return C.TPSLMSG_OK
}
