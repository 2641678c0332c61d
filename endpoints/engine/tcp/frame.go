// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

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

const (
	headerSize = 24
	wordSize   = 8
	maxEager   = 64 << 10 // bytes of a message in a frame
	maxPart    = 1 << 20  // bytes of a data frame
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
	case frameOffer, frameRest, framePartCame:
		return h.length == 2*wordSize
	case framePull:
		return h.length == 3*wordSize
	case frameData:
		return h.length > wordSize && h.length <= wordSize+maxPart
	case framePart:
		return h.length > 2*wordSize && h.length <= 2*wordSize+partSize
	case frameCredit, frameAck:
		return h.length == wordSize
	case frameBye:
		return h.length == 0
	}
	return false
}

// matters tells whether the peer must get a frame. The others say what a new connection begins with.
func (h *header) matters() bool { return h.kind != frameAck && h.kind != frameRest }

// cost is how much of a window a message takes until its receiver has taken it.
func cost(payload int) int64 { return ring.CellSize + int64(payload) }

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[wordSize*i:]) }

func setWords(b []byte, words ...uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[wordSize*i:], w)
	}
}
