// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Sizes in bytes.
const (
	HeaderSize = 24
	WordSize   = 8
	MaxEager   = 64 << 10 // of a message in a frame
)

// A Header begins each frame. From and To are ranks, where the frame is of a port.
type Header struct {
	Kind, Length uint32 // Length: of what follows, in bytes
	From, To     int32
	Context      uint32
	Tag          int32
}

// Encode writes a header into the first HeaderSize bytes of b.
func (h *Header) Encode(b []byte) {
	_ = b[:HeaderSize]
	binary.LittleEndian.PutUint32(b[0:], h.Kind)
	binary.LittleEndian.PutUint32(b[4:], h.Length)
	binary.LittleEndian.PutUint32(b[8:], uint32(h.From))
	binary.LittleEndian.PutUint32(b[12:], uint32(h.To))
	binary.LittleEndian.PutUint32(b[16:], h.Context)
	binary.LittleEndian.PutUint32(b[20:], uint32(h.Tag))
}

// Decode reads a header from the first HeaderSize bytes of b. It may make no sense.
func Decode(b []byte) (h Header) {
	_ = b[:HeaderSize]
	h.Kind = binary.LittleEndian.Uint32(b[0:])
	h.Length = binary.LittleEndian.Uint32(b[4:])
	h.From = int32(binary.LittleEndian.Uint32(b[8:]))
	h.To = int32(binary.LittleEndian.Uint32(b[12:]))
	h.Context = binary.LittleEndian.Uint32(b[16:])
	h.Tag = int32(binary.LittleEndian.Uint32(b[20:]))
	return h
}

// Word returns a word of a payload.
func Word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[WordSize*i:]) }

// SetWords sets the first words of a payload.
func SetWords(b []byte, words ...uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[WordSize*i:], w)
	}
}

// Cost is how many bytes of a window a message of so many bytes takes until its receiver has taken it.
func Cost(payload int) int64 { return ring.CellSize + int64(payload) }
