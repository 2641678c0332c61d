// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"io"
	"sync"
)

// A door keeps what is written to a child until the child has proved who it is. It is closed, open or, for ever, shut.
type door struct {
	decided chan struct{} // closed when it is open or shut
	once    sync.Once
	in      io.Reader // nil when it was shut before it opened
	out     io.WriteCloser
}

func newDoor() *door { return &door{decided: make(chan struct{})} }

func (d *door) open(in io.Reader, out io.WriteCloser) {
	d.once.Do(func() { d.in, d.out = in, out; close(d.decided) })
}

// shut fails whatever waits, unless the door is open.
func (d *door) shut() { d.once.Do(func() { close(d.decided) }) }

func (d *door) isOpen() bool {
	select {
	case <-d.decided:
		return d.in != nil
	default:
		return false
	}
}

// Read implements io.Reader.
func (d *door) Read(b []byte) (int, error) {
	if <-d.decided; d.in == nil {
		return 0, io.EOF
	}
	return d.in.Read(b)
}

// Write implements io.Writer.
func (d *door) Write(b []byte) (int, error) {
	if <-d.decided; d.out == nil {
		return 0, io.ErrClosedPipe
	}
	return d.out.Write(b)
}

// Close implements io.Closer.
func (d *door) Close() error {
	if <-d.decided; d.out == nil {
		return nil
	}
	return d.out.Close()
}
