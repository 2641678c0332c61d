// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The greeting of a connection. Each note has 64 bytes, and all but the first have a proof
// that their sender knows the secret and answers this greeting:
//
//	hello      who dials whom, what for, a random number
//	challenge  a random number                              ◀── from who was dialled
//	proof      how much of the stream has come
//	verdict    whether they go on, how much has come        ◀──
//
// A stranger learns nothing but that somebody listens, and is told so by an end.
const (
	noteSize  = 64
	proofSize = sha256.Size
	greeting  = "tpsl-tcp"
	version   = 1
)

// What a connection is for.
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

var errStranger = errors.New("does not know the job's secret")

// A hello says who dials.
type hello struct {
	from, to, purpose uint32
	connections       uint64 // of the link, as who dials counts; for parts: the rail's number
}

func (h *hello) encode() []byte {
	b := append(make([]byte, 0, noteSize), greeting...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, h.from)
	b = binary.LittleEndian.AppendUint32(b, h.to)
	b = binary.LittleEndian.AppendUint32(b, h.purpose)
	b = binary.LittleEndian.AppendUint64(b, h.connections)
	return append(b, random()...)
}

func decodeHello(b []byte) (h hello, err error) {
	if string(b[:8]) != greeting {
		return h, errors.New("does not greet")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("greets in version %d, not %d: run the same version in all processes", v, version)
	}
	h.from, h.to = binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	h.purpose, h.connections = binary.LittleEndian.Uint32(b[20:]), binary.LittleEndian.Uint64(b[24:])
	return h, nil
}

func random() []byte {
	b := make([]byte, noteSize-proofSize)
	_, _ = rand.Read(b) // never fails
	return b
}

// A talk is one side's part of a greeting: all notes so far, which proofs are about.
type talk struct {
	conn   net.Conn
	secret Secret
	said   []byte
}

func (t *talk) send(note []byte) error {
	t.said = append(t.said, note...)
	_, err := t.conn.Write(note)
	return err
}

func (t *talk) receive() ([]byte, error) {
	b := make([]byte, noteSize)
	_, err := io.ReadFull(t.conn, b)
	t.said = append(t.said, b...)
	return b, err
}

// prove sends a note with a proof behind its half.
func (t *talk) prove(half []byte) error {
	return t.send(append(half, t.proof(half)...))
}

// proven receives such a note.
func (t *talk) proven() (half []byte, err error) {
	before := len(t.said)
	b, err := t.receive()
	if err != nil {
		return nil, err
	}
	half, proof := b[:noteSize-proofSize], b[noteSize-proofSize:]
	said := t.said
	t.said = t.said[:before]
	want := t.proof(half)
	t.said = said
	if !hmac.Equal(proof, want) {
		return nil, errStranger
	}
	return half, nil
}

// proof is that of the secret, about all that was said and a half of a note. The number of
// notes tells which one it is, so none can be sent back as another.
func (t *talk) proof(half []byte) []byte {
	mac := hmac.New(sha256.New, t.secret[:])
	mac.Write(t.said)
	mac.Write(half)
	return mac.Sum(nil)
}

func words(ws ...uint64) []byte {
	b := make([]byte, noteSize-proofSize)
	setWords(b, ws...)
	return b
}

// open is the side that dials. received is asked for when the peer has proved itself.
func (t *talk) open(h hello, received func() uint64) (verdict, position uint64, err error) {
	if err := t.send(h.encode()); err != nil {
		return 0, 0, err
	}
	if _, err := t.proven(); err != nil {
		return 0, 0, err
	}
	if err := t.prove(words(received())); err != nil {
		return 0, 0, err
	}
	half, err := t.proven()
	if err != nil {
		return 0, 0, err
	}
	return word(half, 0), word(half, 1), nil
}

// challenge is the side that was dialled, up to its verdict.
func (t *talk) challenge() (h hello, position uint64, err error) {
	b, err := t.receive()
	if err != nil {
		return h, 0, err
	}
	if h, err = decodeHello(b); err != nil {
		return h, 0, err
	}
	if err := t.prove(random()); err != nil {
		return h, 0, err
	}
	half, err := t.proven()
	if err != nil {
		return h, 0, err
	}
	return h, word(half, 0), nil
}

// decide ends it.
func (t *talk) decide(verdict, received uint64) error { return t.prove(words(verdict, received)) }
