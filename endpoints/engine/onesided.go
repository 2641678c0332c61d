// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
)

// One-sided operations (accesses): one port says what becomes of a region of another. Within a process the
// calling thread does it at once, and the other port need not make progress. Between processes the
// other port does it, in its progress (access.go).
//
// A request is done when the access is, wherever the region lies; it may be the zero one, and only its
// error says something. There is no order among accesses under way, nor between them and messages.

// ErrNoRegion is what an access ends with whose region is freed, or never was.
var ErrNoRegion = errors.New("the key names no region: it is freed, or the key is wrong")

// Put starts to copy data to an offset of a region.
func (p *Port) Put(to Key, offset int, data []byte) (Request, error) {
	return p.access(access{kind: accessPut, key: to, offset: offset, buf: data})
}

// PutSignal starts a Put that then runs a handler of the region's port, with this context, as an
// active message without data would: when the handler runs, the data are there.
func (p *Port) PutSignal(to Key, offset int, data []byte, handler int32, context uint32) (Request, error) {
	return p.access(putSignal(to, offset, data, handler, context))
}

func putSignal(to Key, offset int, data []byte, handler int32, context uint32) access {
	return access{kind: accessPutSignal, key: to, offset: offset, buf: data, operands: [2]uint64{0, uint64(handler)}, context: context}
}

// Get starts to copy from an offset of a region into buf.
func (p *Port) Get(from Key, offset int, buf []byte) (Request, error) {
	return p.access(access{kind: accessGet, key: from, offset: offset, buf: buf})
}

// FetchAdd starts to add to the word of 8 bytes at an offset of a region, a multiple of 8, and to store what it was
// before, unless before is nil. FetchAdd and CompareSwap are atomic among one another, whoever
// calls them, and with the atomic operations of the region's process; words have the processor's byte order.
func (p *Port) FetchAdd(at Key, offset int, add uint64, before *uint64) (Request, error) {
	return p.access(fetchAdd(at, offset, add, before))
}

func fetchAdd(at Key, offset int, add uint64, before *uint64) access {
	return access{kind: accessFetchAdd, key: at, offset: offset, buf: bytesOf(before), operands: [2]uint64{add}}
}

// CompareSwap starts to replace the word at an offset of a region, if it is old, and to store what it was before,
// unless before is nil.
func (p *Port) CompareSwap(at Key, offset int, old, replacement uint64, before *uint64) (Request, error) {
	return p.access(compareSwap(at, offset, old, replacement, before))
}

func compareSwap(at Key, offset int, old, replacement uint64, before *uint64) access {
	return access{kind: accessCompareSwap, key: at, offset: offset, buf: bytesOf(before), operands: [2]uint64{old, replacement}}
}

// The kinds of accesses.
const (
	accessPut = iota
	accessPutSignal
	accessGet
	accessFetchAdd
	accessCompareSwap
	accessKinds
)

// An access is what its caller wants.
type access struct {
	kind     int32
	context  uint32 // of a signal
	key      Key
	offset   int
	buf      []byte    // the data, or where they go; of a word: where it goes
	operands [2]uint64 // of a word; the second one of a signal: its handler
	notice   notice
}

// length returns how many bytes of the region it is about.
func (a *access) length() uint64 {
	if isOfWord(a.kind) {
		return wordSize
	}
	return uint64(len(a.buf))
}

func isOfWord(kind int32) bool { return kind == accessFetchAdd || kind == accessCompareSwap }

// access starts one.
func (p *Port) access(a access) (Request, error) {
	if p.fabric.closed.Load() {
		return Request{}, ErrClosed
	}
	if a.kind == accessPutSignal {
		if err := p.checkHandler(Envelope{Tag: int32(a.operands[1])}); err != nil {
			return Request{}, err
		}
	}
	rank, size := a.key.rank(), a.key.size()
	switch {
	case size == 0: // as in Key{}: a region has at least one byte
		return Request{}, fmt.Errorf("port %d: %w", p.rank, ErrNoRegion)
	case rank >= uint32(len(p.fabric.peers)):
		return Request{}, fmt.Errorf("port %d: a key of port %d: the fabric has ports 0 to %d", p.rank, rank, len(p.fabric.peers)-1)
	case a.offset < 0 || !fits(uint64(a.offset), a.length(), size):
		return Request{}, fmt.Errorf("port %d: %d bytes at offset %d of a region of port %d, which has %d", p.rank, a.length(), a.offset, rank, size)
	case isOfWord(a.kind) && a.offset%wordSize != 0:
		return Request{}, fmt.Errorf("port %d: the word at offset %d of a region of port %d: take a multiple of %d", p.rank, a.offset, rank, wordSize)
	}
	to := p.fabric.peers[rank].port
	if to == nil {
		return p.ask(&a), nil
	}
	r := to.regions.enter(a.key.id(), uint64(a.offset), a.length())
	if r == nil {
		return Request{}, fmt.Errorf("port %d: a region of port %d: %w", p.rank, rank, ErrNoRegion)
	}
	part := r.memory[a.offset:][:a.length()]
	switch a.kind {
	case accessPut, accessPutSignal:
		copy(part, a.buf)
	case accessGet:
		copy(a.buf, part)
	default:
		storeWord(a.buf, r.change(a.kind, uint64(a.offset), a.operands))
	}
	r.leave()
	if a.kind != accessPutSignal {
		p.endAtOnce(a.notice, int32(rank), int(a.length()))
		return Request{}, nil
	}
	signal := Envelope{Context: a.context, Peer: int32(rank), Tag: tagOf(int32(a.operands[1]))}
	o := p.prepare(opSend, nil, &signal)
	o.bytes = int(a.length()) // of the put
	o.goesInto(a.notice)
	return p.launch(o, &signal), nil
}

// change does what is to be done to a word, and returns what it was.
func (r *Region) change(kind int32, offset uint64, operands [2]uint64) (before uint64) {
	word := wordAt(r.memory, offset)
	if kind == accessFetchAdd {
		return word.Add(operands[0]) - operands[0]
	}
	for {
		if before = word.Load(); before != operands[0] || word.CompareAndSwap(before, operands[1]) {
			return before
		}
	}
}
