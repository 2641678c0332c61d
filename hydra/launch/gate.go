// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"io"
	"sync"
)

// A gate holds back what is written to a child until the child has proved that it knows the secret. It is closed, open, or
// permanently shut.
type gate struct {
	decided chan struct{} // closed when it is open or shut
	once    sync.Once
	in      io.Reader // nil when it was shut before it opened
	out     io.WriteCloser
}

func newGate() *gate { return &gate{decided: make(chan struct{})} }

func (g *gate) open(in io.Reader, out io.WriteCloser) {
	g.once.Do(func() { g.in, g.out = in, out; close(g.decided) })
}

// shut makes all waiting calls fail, unless the gate is open.
func (g *gate) shut() { g.once.Do(func() { close(g.decided) }) }

func (g *gate) isOpen() bool {
	select {
	case <-g.decided:
		return g.in != nil
	default:
		return false
	}
}

// Read implements io.Reader.
func (g *gate) Read(b []byte) (int, error) {
	if <-g.decided; g.in == nil {
		return 0, io.EOF
	}
	return g.in.Read(b)
}

// Write implements io.Writer.
func (g *gate) Write(b []byte) (int, error) {
	if <-g.decided; g.out == nil {
		return 0, io.ErrClosedPipe
	}
	return g.out.Write(b)
}

// Close implements io.Closer.
func (g *gate) Close() error {
	if <-g.decided; g.out == nil {
		return nil
	}
	return g.out.Close()
}
