// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func attribute(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, -len(b)&3)...)
}

func number(kind uint16, n int) []byte {
	return attribute(kind, binary.NativeEndian.AppendUint32(nil, uint32(n)))
}

// message is what the kernel answers: the device, and a table. It marks the table as one that holds attributes (NLA_F_NESTED).
func message(table uint16, objects ...object) []byte {
	var entries []byte
	for _, o := range objects {
		fields := append(number(21, 0x11), attribute(attrType, []byte{o.qpType})...)
		fields = append(fields, number(attrPDN, o.pd)...)
		fields = append(fields, number(attrContext, o.context)...)
		if o.kernel {
			fields = append(fields, attribute(attrKernel, []byte("ib_core\x00"))...)
		} else {
			fields = append(fields, number(attrPID, o.thread)...)
		}
		entries = append(entries, attribute(table+1, fields)...)
	}
	return append(append(number(1, 0), attribute(2, []byte("rxe0\x00"))...), attribute(0x8000|table, entries)...)
}

func TestParseObjects(t *testing.T) {
	want := []object{{qpType: 2, pd: 3, context: 4, thread: 70}, {qpType: 4, pd: 5, kernel: true}}
	have, err := parseObjects(want[:1:1], message(attrQPs, want...), attrQPs)
	require.NoError(t, err)
	assert.Equal(t, append(want[:1:1], want...), have)
	have, err = parseObjects(nil, message(attrQPs, want...), attrCQs)
	require.NoError(t, err)
	assert.Empty(t, have, "another table")

	whole := message(attrQPs, want...)
	for length := range len(whole) {
		if length != 0 && length != 8 && (length < 17 || length > 20) { // between attributes, the second of which may lack its padding
			_, err := parseObjects(nil, whole[:length], attrQPs)
			assert.ErrorIs(t, err, errMalformed, length)
		}
	}
	wrong := attribute(attrQPs, attribute(attrQPs+1, attribute(attrPID, []byte{1, 2})))
	_, err = parseObjects(nil, wrong, attrQPs)
	assert.ErrorIs(t, err, errMalformed)
}

// The parser ends, within its bounds, and what it takes is what it would write.
func FuzzObjects(f *testing.F) {
	f.Add(message(attrQPs, object{qpType: 2, pd: 3, context: 4, thread: 70}), uint16(attrQPs))
	f.Add(message(attrPDs, object{pd: 1, kernel: true}, object{pd: 2, thread: 1}), uint16(attrPDs))
	f.Add([]byte{5, 0, 1, 0, 9}, uint16(1)) // without padding
	f.Add([]byte{3, 0, 1, 0}, uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, table uint16) {
		all, err := parseObjects(nil, text, table&0x3fff)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(all), len(text)/4)
		again, err := parseObjects(nil, message(table&0x3fff, all...), table&0x3fff)
		if len(all) < 100 && table&0x3fff > 2 {
			assert.NoError(t, err)
			assert.Len(t, again, len(all))
		}
	})
}

// The kernel, two ranks of one process, a rank whose thread has ended.
func TestContextsOfObjects(t *testing.T) {
	tables := tables{
		pds: []object{{kernel: true}, {pd: 2, thread: 70}, {pd: 3, context: 2, thread: 71}, {pd: 4, thread: 72}, {pd: 5, context: 7}},
		qps: []object{{qpType: 1, kernel: true}, {qpType: 4, pd: 2, thread: 71}, {qpType: 2, pd: 2, thread: 70}, {qpType: 2, pd: 4, thread: 70}, {qpType: 2, pd: 3, thread: 71}, {qpType: 2, pd: 5}},
		cqs: []object{{pd: -1, thread: 70}, {pd: -1, context: 2, thread: 71}, {kernel: true}},
		mrs: []object{{pd: 3, context: -1, thread: 70}, {pd: 3, context: -1, thread: 71}},
	}
	assert.Equal(t, []*Context{
		{Device: "rxe0", Number: 0, Thread: 70, QPs: map[string]int{"RC": 2, "UD": 1}, CQs: 1},
		{Device: "rxe0", Number: 2, Thread: 71, QPs: map[string]int{"RC": 1}, CQs: 1, MRs: 2},
		{Device: "rxe0", Number: 7, QPs: map[string]int{"RC": 1}},
	}, tables.contexts("rxe0"))
}

// Kernel 4.20, and a protection domain that was made after the question for these.
func TestContextsThatAreNotTold(t *testing.T) {
	rc := func(thread int) object { return object{qpType: 2, pd: -1, context: -1, thread: thread} }
	tables := tables{qps: []object{rc(70), rc(71), rc(70), {qpType: 2, pd: 6, context: -1, thread: 71}}}
	assert.Equal(t, []*Context{
		{Device: "rxe0", Number: -1, Thread: 70, QPs: map[string]int{"RC": 2}},
		{Device: "rxe0", Number: -1, Thread: 71, QPs: map[string]int{"RC": 2}},
	}, tables.contexts("rxe0"))
}

func TestQPName(t *testing.T) {
	assert.Equal(t, "RC UD type 77", qpName(2)+" "+qpName(4)+" "+qpName(77))
}
