// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// The kinds of frames, and what their payload is. Words have eight bytes.
const (
	frameMessage = 1 + iota // the message
	frameOffer              // a key of the sender's, the message's length, its address, the key of its memory
	frameTaken              // the offer's key: the receiver has what it wants of it
	frameCredit             // how much more the port takes
)

const (
	headerSize = 24
	wordSize   = 8
	offerWords = 4
	maxEager   = 64 << 10 // bytes of a message in a frame
)

// A header begins each frame. From and to are ranks, where the frame is of a port.
type header struct {
	kind, length uint32 // length: of what follows
	from, to     int32
	context      uint32
	tag          int32
}

func (h *header) encode(b []byte) {
	_ = b[:headerSize]
	binary.LittleEndian.PutUint32(b[0:], h.kind)
	binary.LittleEndian.PutUint32(b[4:], h.length)
	binary.LittleEndian.PutUint32(b[8:], uint32(h.from))
	binary.LittleEndian.PutUint32(b[12:], uint32(h.to))
	binary.LittleEndian.PutUint32(b[16:], h.context)
	binary.LittleEndian.PutUint32(b[20:], uint32(h.tag))
}

func decode(b []byte) (h header) {
	_ = b[:headerSize]
	h.kind = binary.LittleEndian.Uint32(b[0:])
	h.length = binary.LittleEndian.Uint32(b[4:])
	h.from = int32(binary.LittleEndian.Uint32(b[8:]))
	h.to = int32(binary.LittleEndian.Uint32(b[12:]))
	h.context = binary.LittleEndian.Uint32(b[16:])
	h.tag = int32(binary.LittleEndian.Uint32(b[20:]))
	return h
}

// fits tells whether a frame's kind and length make sense.
func (h *header) fits() bool {
	switch h.kind {
	case frameMessage:
		return h.length <= maxEager
	case frameOffer:
		return h.length == offerWords*wordSize
	case frameTaken, frameCredit:
		return h.length == wordSize
	}
	return false
}

// cost is how much of a window a message takes until its receiver has taken it.
func cost(payload int) int64 { return ring.CellSize + int64(payload) }

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[wordSize*i:]) }

func setWord(b []byte, i int, w uint64) { binary.LittleEndian.PutUint64(b[wordSize*i:], w) }
