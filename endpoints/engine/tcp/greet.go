// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"net"

	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

const carrierName = "tpsl-tcp"

// What a connection is for. The hello's number is how many connections the link has had, as who dials counts; for parts, the
// rail's.
const (
	forFrames = iota + 1
	forNudge  // to be dialled: the peer may not know that a connection is over, or wanted
	forParts  // of messages: a rail of the one who dials
)

// The verdicts.
const (
	welcome = iota + 1
	refused // the peer is gone for who was dialled
)

// A talk is a greeting in which each side says how much of the stream has come.
type talk struct{ greet.Talk }

func newTalk(conn net.Conn, secret Secret) *talk {
	return &talk{greet.Talk{Conn: conn, Secret: secret, Carrier: carrierName}}
}

func words(ws ...uint64) []byte {
	b := make([]byte, greet.HalfSize)
	frame.SetWords(b, ws...)
	return b
}

// open is the side that dials. received is asked for when the peer has proved itself.
func (t *talk) open(h greet.Hello, received func() uint64) (verdict, position uint64, err error) {
	half, err := t.Open(h, func() []byte { return words(received()) })
	if err != nil {
		return 0, 0, err
	}
	return frame.Word(half, 0), frame.Word(half, 1), nil
}

// challenge is the side that was dialled, up to its verdict.
func (t *talk) challenge() (h greet.Hello, position uint64, err error) {
	h, half, err := t.Challenge()
	if err != nil {
		return h, 0, err
	}
	return h, frame.Word(half, 0), nil
}

// decide ends it.
func (t *talk) decide(verdict, received uint64) error { return t.Decide(words(verdict, received)) }
