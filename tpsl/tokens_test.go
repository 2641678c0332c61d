// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRequestToken(t *testing.T) {
	with := func(handle uint32, offset, size int) []byte {
		memory := make([]byte, size)
		binary.LittleEndian.PutUint32(memory[offset:], handle)
		return memory
	}
	request := with(0xac000003, 0, 272)
	for _, c := range []struct {
		name       string
		before, to []byte
		want       bool
	}{
		{"of a request, to another", with(0xac000001, 4096, 4096+0xb0), request, true},
		{"of the first request", with(0xac000000, 0, 8), request, true},
		{"of a variable", make([]byte, 4096), request, false},
		{"of nothing before", nil, request, false},
		{"of a variable far behind the requests", with(0xac000001, 0, 2048), request, false},
		{"to the middle of a request", with(0xac000001, 0, 0xb0), request[8:], false},
		{"to the text, or to the last bytes", with(0xac000001, 0, 0xb0), nil, false},
		{"to a communicator", with(0xac000001, 0, 0xb0), with(0x84000001, 0, 272), false},
		{"to a request of the heap", with(0xac000001, 0, 0xb0), with(0xec000001, 0, 272), false},
		{"of a communicator", with(0x84000001, 0, 0xb0), request, false},
	} {
		assert.Equal(t, c.want, isRequestToken(c.before, c.to), c.name)
	}
}
