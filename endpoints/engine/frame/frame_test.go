// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

// The bytes are those that version 2 of package greet stands for.
func TestBytes(t *testing.T) {
	h := frame.Header{Kind: 0x04030201, Length: 0x08070605, From: 0x0c0b0a09, To: -2, Context: 0x14131211, Tag: -0x10203}
	b := make([]byte, frame.HeaderSize+2*frame.WordSize)
	h.Encode(b)
	frame.SetWords(b[frame.HeaderSize:], 0x0807060504030201, 1<<63)
	assert.Equal(t, []byte{
		1, 2, 3, 4, 5, 6, 7, 8,
		9, 10, 11, 12, 0xfe, 0xff, 0xff, 0xff,
		0x11, 0x12, 0x13, 0x14, 0xfd, 0xfd, 0xfe, 0xff,
		1, 2, 3, 4, 5, 6, 7, 8,
		0, 0, 0, 0, 0, 0, 0, 0x80,
	}, b)
	assert.Equal(t, h, frame.Decode(b))
	assert.Equal(t, uint64(1)<<63, frame.Word(b[frame.HeaderSize:], 1))
}
