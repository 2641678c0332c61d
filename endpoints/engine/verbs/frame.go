// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import "github.com/tpsl/tpsl/endpoints/engine/frame"

// The kinds of frames, and what their payload is. Words have eight bytes.
const (
	frameMessage = 1 + iota // the message
	frameOffer              // a key of the sender's, the message's length, its address, the key of its memory
	frameTaken              // the offer's key: the receiver has what it wants of it
	frameCredit             // how much more the port takes
)

const offerWords = 4

// fits tells whether a frame's kind and length make sense.
func fits(h *frame.Header) bool {
	switch h.Kind {
	case frameMessage:
		return h.Length <= frame.MaxEager
	case frameOffer:
		return h.Length == offerWords*frame.WordSize
	case frameTaken, frameCredit:
		return h.Length == frame.WordSize
	}
	return false
}
