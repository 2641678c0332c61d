// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"encoding/binary"
	"fmt"
)

// MaxPayload is how many bytes a message may have.
const MaxPayload = 1 << 10

// A Message is what one process sends to another.
type Message struct {
	From    int
	Type    uint32 // its user's
	Payload []byte
}

// The kinds of frames, which travel as contexts of the carrier. A frame's tag is its class.
const (
	frameMessage = iota + 1 // a header, the payload
	frameCredit             // how many buffers of the class are given back
	frameNotice             // the two ends of a link that is down
)

// A frame is what travels on a link.
type frame struct {
	kind  uint32
	class int32
	body  []byte
}

const (
	messageHeader = 3 * 4
	maxBody       = messageHeader + MaxPayload
	// maxClass is a limit for what neighbours may say. A message goes into the next class once in each dimension,
	// and a few times for each link that goes down while it is on its way.
	maxClass = 1 << 16
)

func words(values ...uint32) (body []byte) {
	for _, v := range values {
		body = binary.LittleEndian.AppendUint32(body, v)
	}
	return body
}

func word(body []byte, i int) uint32 { return binary.LittleEndian.Uint32(body[4*i:]) }

// destination of a message's body.
func destination(body []byte) int { return int(word(body, 0)) }

func newBody(to, from int, kind uint32, payload []byte) []byte {
	body := make([]byte, 0, messageHeader+len(payload))
	return append(append(body, words(uint32(to), uint32(from), kind)...), payload...)
}

func messageOf(body []byte) Message {
	return Message{From: int(word(body, 1)), Type: word(body, 2), Payload: body[messageHeader:]}
}

// check tells whether a neighbour may say so, in a torus of so many processes.
func (f *frame) check(size int) error {
	isRank := func(i int) bool { return word(f.body, i) < uint32(size) }
	switch {
	case f.class < 0 || f.class > maxClass:
	case f.kind == frameMessage && len(f.body) >= messageHeader && len(f.body) <= maxBody && isRank(0) && isRank(1):
		return nil
	case f.kind == frameCredit && len(f.body) == 4:
		return nil
	case f.kind == frameNotice && len(f.body) == 8 && isRank(0) && isRank(1) && word(f.body, 0) < word(f.body, 1):
		return nil
	}
	return fmt.Errorf("a frame of kind %d, class %d and %d bytes makes no sense", f.kind, f.class, len(f.body))
}
