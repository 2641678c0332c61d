// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// The kinds of cells that stand for messages; the engine's own rings have smaller ones, and
// what a carrier uses between its processes has kinds from OwnCells on. What their payload
// holds, in words of eight bytes:
const (
	FirstCell = 16 + iota
	Inline    // the message
	Kept      // the carrier's number of the buffer that holds the message
	Offer     // a key of the sender's, a word of the carrier's, the message's length
	OwnCells
)

// Word returns a word of a cell's payload.
func Word(c *ring.Cell, i int) uint64 { return binary.LittleEndian.Uint64(c.Inline[8*i:]) }

// SetWords sets the words of a cell's payload.
func SetWords(c *ring.Cell, words [3]uint64) {
	for i, w := range words {
		binary.LittleEndian.PutUint64(c.Inline[8*i:], w)
	}
}

// Bytes returns the length of the message that a cell of an Arrived event stands for.
func Bytes(c *ring.Cell) int {
	if c.Kind == Offer {
		return int(Word(c, 2))
	}
	return int(c.Length)
}
