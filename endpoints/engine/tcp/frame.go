// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import "github.com/tpsl/tpsl/endpoints/engine/frame"

// The kinds of frames, and what their payload is. Words have eight bytes.
const (
	frameMessage  = 1 + iota // the message
	frameOffer               // a key of the sender's, the message's length
	framePull                // the offer's key, a key of the receiver's, how many bytes are wanted
	frameData                // the receiver's key, then bytes
	frameCredit              // how much more the port takes
	frameAck                 // how many bytes of the stream have come
	frameBye                 // nothing: the process leaves
	frameRest                // how many bytes of the stream have come, a connection's number: nothing more is written by it
	framePart                // by a rail only: the receiver's key, the part's number, then bytes
	framePartCame            // the offer's key, the part's number
)

const maxPart = 1 << 20 // bytes of a data frame

// fits tells whether a frame's kind and length make sense.
func fits(h *frame.Header) bool {
	switch h.Kind {
	case frameMessage:
		return h.Length <= frame.MaxEager
	case frameOffer, frameRest, framePartCame:
		return h.Length == 2*frame.WordSize
	case framePull:
		return h.Length == 3*frame.WordSize
	case frameData:
		return h.Length > frame.WordSize && h.Length <= frame.WordSize+maxPart
	case framePart:
		return h.Length > 2*frame.WordSize && h.Length <= 2*frame.WordSize+partSize
	case frameCredit, frameAck:
		return h.Length == frame.WordSize
	case frameBye:
		return h.Length == 0
	}
	return false
}

// matters tells whether the peer must get a frame. The others say what a new connection begins with.
func matters(h *frame.Header) bool { return h.Kind != frameAck && h.Kind != frameRest }
