// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carriertest

import "github.com/tpsl/tpsl/endpoints/engine/frame"

// Forged returns the bytes of a frame. A length of 0 stands for that of the payload, which may be another than the header says.
func Forged(h frame.Header, payload ...uint64) []byte {
	b := make([]byte, frame.HeaderSize+frame.WordSize*len(payload))
	if h.Length == 0 {
		h.Length = uint32(frame.WordSize * len(payload))
	}
	h.Encode(b)
	frame.SetWords(b[frame.HeaderSize:], payload...)
	return b
}
