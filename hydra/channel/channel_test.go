// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConn(t *testing.T) {
	r, w := io.Pipe()
	sender, receiver := New(bytes.NewReader(nil), w), New(r, nopCloser{io.Discard})
	defer receiver.Close()
	conn := sender.Conn(9)
	conn.Send(Stdout, 7, []byte("text"))
	conn.SendValue(Aborted, Abort{Rank: 3, Code: 5, Text: "a text"})
	conn.SendCredit(Stdin, 1<<20)
	sender.Close()

	frame, err := receiver.Receive()
	require.NoError(t, err)
	assert.Equal(t, Frame{Stdout, 9, 7, []byte("text")}, frame)
	frame, err = receiver.Receive()
	require.NoError(t, err)
	var abort Abort
	require.NoError(t, frame.Value(&abort))
	assert.Equal(t, Abort{Rank: 3, Code: 5, Text: "a text"}, abort)
	frame, err = receiver.Receive()
	require.NoError(t, err)
	stream, n := frame.CreditOf()
	assert.Equal(t, Stdin, stream)
	assert.Equal(t, 1<<20, n)
	_, err = receiver.Receive()
	assert.Equal(t, io.EOF, err)
	<-sender.Sent()
	conn.Send(Stdout, 0, nil) // dropped
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestConnWithoutPeer(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	c := New(bytes.NewReader(nil), w)
	c.Conn(0).Send(Done, 0, nil)
	select {
	case <-c.Sent():
	case <-time.After(time.Minute):
		t.Fatal("writer does not end")
	}
}

func TestWindow(t *testing.T) {
	w := NewWindow(10)
	require.True(t, w.Acquire(8))
	got := make(chan bool)
	go func() { got <- w.Acquire(4) }()
	select {
	case <-got:
		t.Fatal("acquired more than is free")
	case <-time.After(20 * time.Millisecond):
	}
	w.Release(2)
	assert.True(t, <-got)
	go func() { got <- w.Acquire(100) }()
	w.Close()
	assert.False(t, <-got)
}

// A frame is read if and only if it is whole, and writing it again gives the same bytes.
func FuzzRead(f *testing.F) {
	f.Add(Frame{Stdout, 2, 1, []byte("x")}.append(nil))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, input []byte) {
		frame, err := read(bytes.NewReader(input))
		if err != nil {
			return
		}
		require.True(t, bytes.HasPrefix(input, frame.append(nil)))
	})
}
