// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A Conn is one end of a channel. A goroutine of its own writes, so Send never waits for the peer.
type Conn struct {
	in  *bufio.Reader
	out io.WriteCloser

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []Frame
	closed bool
	sent   chan struct{} // closed when the writer has ended
}

// New returns a channel that reads frames from in and writes them to out.
func New(in io.Reader, out io.WriteCloser) *Conn {
	c := &Conn{in: bufio.NewReaderSize(in, 64<<10), out: out, sent: make(chan struct{})}
	c.wake = sync.NewCond(&c.mu)
	go c.write()
	return c
}

// Send queues a frame. Frames are dropped once the peer is gone or the channel is closed; Receive then tells.
func (c *Conn) Send(kind Kind, index int, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.queue = append(c.queue, Frame{kind, index, body})
		c.wake.Signal()
	}
}

// SendValue queues a frame whose body is v as JSON, which does not keep strings that are not UTF-8: use []byte for text
// that must arrive as it is.
func (c *Conn) SendValue(kind Kind, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // every v is a plain struct of ours
	}
	c.Send(kind, 0, body)
}

// Value reads the body that SendValue wrote.
func (f Frame) Value(v any) error {
	if err := json.Unmarshal(f.Body, v); err != nil {
		return fmt.Errorf("read frame of kind %d: %w", f.Kind, err)
	}
	return nil
}

// SendCredit tells the peer that n bytes of a stream were consumed.
func (c *Conn) SendCredit(stream Kind, n int) {
	c.Send(Credit, int(stream), binary.BigEndian.AppendUint32(nil, uint32(n)))
}

// CreditOf returns the stream and byte count of a Credit frame.
func (f Frame) CreditOf() (stream Kind, n int) {
	if len(f.Body) != 4 {
		return 0, 0
	}
	return Kind(f.Index), int(binary.BigEndian.Uint32(f.Body))
}

// Receive returns the next frame, or io.EOF when the peer has closed its end.
func (c *Conn) Receive() (Frame, error) { return read(c.in) }

// Close sends what is queued, then closes the outgoing stream. It does not wait; Sent tells when that has happened.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake.Signal()
}

// Sent is closed after the last queued frame was written or the peer was found gone.
func (c *Conn) Sent() <-chan struct{} { return c.sent }

func (c *Conn) write() {
	defer close(c.sent)
	defer c.out.Close()
	for {
		frames, open := c.take()
		for _, f := range frames {
			if f.write(c.out) != nil {
				c.Close()
				return
			}
		}
		if !open {
			return
		}
	}
}

// take waits for queued frames; open is false when none can follow.
func (c *Conn) take() (frames []Frame, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.wake.Wait()
	}
	frames, c.queue = c.queue, nil
	return frames, !c.closed || len(frames) > 0
}
