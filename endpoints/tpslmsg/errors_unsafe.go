// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

// #include "tpslmsg.h"
import "C"

import (
	"errors"
	"unsafe"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// The codes of what this package refuses itself.
const (
	invalid  C.int = C.TPSLMSG_INVALID
	isClosed C.int = C.TPSLMSG_CLOSED
	isBusy   C.int = C.TPSLMSG_BUSY
	launcher C.int = C.TPSLMSG_LAUNCHER
)

// A refusal is an error with its code.
type refusal struct {
	code C.int
	text string
}

func (r refusal) Error() string { return r.text }

// codeOf returns the code of an error: of the engine's by what it is.
func codeOf(err error) C.int {
	var own refusal
	switch {
	case err == nil:
		return C.TPSLMSG_OK
	case errors.As(err, &own):
		return own.code
	case errors.Is(err, engine.ErrClosed):
		return isClosed
	case errors.Is(err, engine.ErrTruncated):
		return C.TPSLMSG_TRUNCATED
	case errors.Is(err, engine.ErrPeerGone):
		return C.TPSLMSG_GONE
	case errors.Is(err, engine.ErrNoRegion):
		return C.TPSLMSG_NO_REGION
	}
	return invalid
}

// A say is where the calling thread keeps its error: so many bytes of C's memory.
type say = *C.char

const textSize = 512

// refuse tells the caller of an error, and returns its code.
func refuse(to say, err error) C.int {
	text := unsafe.Slice((*byte)(unsafe.Pointer(to)), textSize)
	n := copy(text[:textSize-1], err.Error())
	text[n] = 0
	return codeOf(err)
}
