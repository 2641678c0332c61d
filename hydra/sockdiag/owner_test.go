// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package sockdiag

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

func TestParseOwner(t *testing.T) {
	native := binary.NativeEndian
	answer := func(kind uint16, uid, inode uint32) []byte {
		b := make([]byte, netlinkHeader+diagReply)
		native.PutUint16(b[4:], kind)
		native.PutUint32(b[netlinkHeader+64:], uid)
		native.PutUint32(b[netlinkHeader+68:], inode)
		return b
	}
	refusal := func(errno unix.Errno) []byte {
		b := answer(unix.NLMSG_ERROR, 0, 0)
		native.PutUint32(b[netlinkHeader:], uint32(-int32(errno)))
		return b
	}
	for _, tt := range []struct {
		name  string
		reply []byte
		uid   int
		err   error
	}{
		{"a user's", answer(byFamily, 1000, 7), 1000, nil},
		{"root's", answer(byFamily, 0, 7), 0, nil},
		{"closed: its owner is not known", answer(byFamily, 0, 0), 0, ErrNoSocket},
		{"not there", refusal(unix.ENOENT), 0, ErrNoSocket},
		{"not told", refusal(unix.EPERM), 0, unix.EPERM},
		{"short", answer(byFamily, 1000, 7)[:80], 0, ErrNoSocket},
		{"something else", answer(99, 1000, 7), 0, ErrNoSocket},
		{"empty", nil, 0, ErrNoSocket},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := check(tt.reply)
			assert.ErrorIs(t, err, tt.err)
			if err == nil {
				assert.Equal(t, tt.uid, owner(reply))
			}
		})
	}
}

// What the kernel says of attributes is read within its bounds.
func TestUnheardOf(t *testing.T) {
	native := binary.NativeEndian
	answer := func(queued, ack uint32, retransmits, probes byte) []byte {
		b := make([]byte, diagReply+8+4+100)
		native.PutUint32(b[60:], queued)
		native.PutUint16(b[diagReply:], 5) // another attribute, padded
		attribute := b[diagReply+8:]
		native.PutUint16(attribute, 104)
		native.PutUint16(attribute[2:], tcpInfo)
		attribute[4+2], attribute[4+3] = retransmits, probes
		native.PutUint32(attribute[4+56:], ack)
		return b
	}
	assert.Equal(t, 70*time.Second, unheard(answer(1, 70000, 5, 0)))
	assert.Equal(t, 70*time.Second, unheard(answer(1, 70000, 0, 5)), "its link is down")
	assert.Zero(t, unheard(answer(0, 70000, 0, 0)), "it owes nothing")
	assert.Zero(t, unheard(answer(1, 70000, 0, 1)), "it has answered the probe before: it has no room")
	for size := diagReply; size < diagReply+8+4+60; size++ {
		assert.Zero(t, unheard(answer(1, 70000, 5, 0)[:size]))
	}
}
