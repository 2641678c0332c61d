// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package greet

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
//	proof      the answer of who dials
//	verdict    the answer of who was dialled                ◀──
//
// A stranger is told so by an end.
const (
	NoteSize = 64
	HalfSize = NoteSize - sha256.Size // bytes of an answer
	version  = 2
)

// A Secret is what the processes of a job know, and nobody else.
type Secret [32]byte

// ErrStranger says that the other side does not know the secret.
var ErrStranger = errors.New("does not know the job's secret")

// A Hello says who dials.
type Hello struct {
	From, To, Purpose uint32
	Number            uint64 // what it counts is the carrier's
}

// Encode returns the note of a hello, of a carrier by its name of eight bytes.
func (h *Hello) Encode(carrier string) []byte {
	b := append(make([]byte, 0, NoteSize), carrier...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, h.From)
	b = binary.LittleEndian.AppendUint32(b, h.To)
	b = binary.LittleEndian.AppendUint32(b, h.Purpose)
	b = binary.LittleEndian.AppendUint64(b, h.Number)
	return append(b, random()...)
}

func decodeHello(carrier string, b []byte) (h Hello, err error) {
	if string(b[:8]) != carrier {
		return h, errors.New("does not greet")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("greets in version %d, not %d: run the same version in all processes", v, version)
	}
	h.From, h.To = binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	h.Purpose, h.Number = binary.LittleEndian.Uint32(b[20:]), binary.LittleEndian.Uint64(b[24:])
	return h, nil
}

func random() []byte {
	b := make([]byte, HalfSize)
	_, _ = rand.Read(b) // never fails
	return b
}

// A Talk is one side's part of a greeting.
type Talk struct {
	Conn    net.Conn
	Secret  Secret
	Carrier string // its name, of eight bytes: both sides have the same
	said    []byte // all notes so far, which proofs are about
}

func (t *Talk) send(note []byte) error {
	t.said = append(t.said, note...)
	_, err := t.Conn.Write(note)
	return err
}

func (t *Talk) receive() ([]byte, error) {
	b := make([]byte, NoteSize)
	_, err := io.ReadFull(t.Conn, b)
	t.said = append(t.said, b...)
	return b, err
}

// prove sends a note with a proof behind its half.
func (t *Talk) prove(half []byte) error {
	half = append(make([]byte, 0, NoteSize), half...)[:HalfSize]
	return t.send(append(half, t.proof(half)...))
}

// proven receives such a note.
func (t *Talk) proven() (half []byte, err error) {
	before := len(t.said)
	b, err := t.receive()
	if err != nil {
		return nil, err
	}
	half, proof := b[:HalfSize], b[HalfSize:]
	said := t.said
	t.said = t.said[:before]
	want := t.proof(half)
	t.said = said
	if !hmac.Equal(proof, want) {
		return nil, ErrStranger
	}
	return half, nil
}

// proof is that of the secret, about all that was said and a half of a note. The number of
// notes tells which one it is, so none can be sent back as another.
func (t *Talk) proof(half []byte) []byte {
	mac := hmac.New(sha256.New, t.Secret[:])
	mac.Write(t.said)
	mac.Write(half)
	return mac.Sum(nil)
}

// Open is the side that dials. Its answer, of HalfSize bytes at most, is asked for when the peer has proved itself. The
// verdict has HalfSize bytes.
func (t *Talk) Open(h Hello, answer func() []byte) (verdict []byte, err error) {
	if err := t.send(h.Encode(t.Carrier)); err != nil {
		return nil, err
	}
	if _, err := t.proven(); err != nil {
		return nil, err
	}
	if err := t.prove(answer()); err != nil {
		return nil, err
	}
	return t.proven()
}

// Challenge is the side that was dialled, up to its verdict. The answer has HalfSize bytes.
func (t *Talk) Challenge() (h Hello, answer []byte, err error) {
	b, err := t.receive()
	if err != nil {
		return h, nil, err
	}
	if h, err = decodeHello(t.Carrier, b); err != nil {
		return h, nil, err
	}
	if err := t.prove(random()); err != nil {
		return h, nil, err
	}
	answer, err = t.proven()
	return h, answer, err
}

// Decide ends it, with a verdict of HalfSize bytes at most.
func (t *Talk) Decide(verdict []byte) error { return t.prove(verdict) }
