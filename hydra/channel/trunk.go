// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"bufio"
	"io"
	"sync"
	"time"
)

// A Trunk is one end of the two byte streams between a process and a proxy that it started. It carries the frames of
// that proxy and of all below it. A goroutine of its own writes, so Put never waits for the peer.
type Trunk struct {
	in  *bufio.Reader
	out io.WriteCloser

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []Frame
	closed bool
	sent   chan struct{} // closed when the writer has ended
}

// Buffered returns a reader that New uses without another buffer, so data that was read ahead is not lost.
func Buffered(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 8<<10) }

// New returns a trunk that reads frames from in and writes them to out.
func New(in io.Reader, out io.WriteCloser) *Trunk {
	t := &Trunk{in: Buffered(in), out: out, sent: make(chan struct{})}
	t.wake = sync.NewCond(&t.mu)
	go t.write()
	return t
}

// Conn returns this end of the conversation with a proxy over the trunk.
func (t *Trunk) Conn(proxy int) *Conn { return &Conn{trunk: t, proxy: proxy} }

// Put queues a frame without changing it.
func (t *Trunk) Put(f Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.queue = append(t.queue, f)
		t.wake.Signal()
	}
}

// Beat sends a Beat frame at each interval until the peer is gone or the trunk closed.
func (t *Trunk) Beat(interval time.Duration) {
	for ticks := time.NewTicker(interval); ; {
		select {
		case <-ticks.C:
			t.Put(Frame{Kind: Beat})
		case <-t.sent:
			ticks.Stop()
			return
		}
	}
}

// Receive returns the next frame, or io.EOF when the peer has closed its end.
func (t *Trunk) Receive() (Frame, error) { return read(t.in) }

// Close sends what is queued, then closes the outgoing stream. It does not wait; Sent tells when that has happened.
func (t *Trunk) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.wake.Signal()
}

// Sent is closed after the last queued frame was written or the peer was found gone.
func (t *Trunk) Sent() <-chan struct{} { return t.sent }

// batch is the number of bytes from which on the writer writes at once. With fewer bytes it first takes further frames that are
// queued already, because each write wakes the peer.
const batch = 64 << 10

func (t *Trunk) write() {
	defer close(t.sent)
	defer t.out.Close()
	var b []byte
	for {
		frames, open := t.take()
		if !open {
			return
		}
		for i, f := range frames {
			if b = f.append(b); len(b) < batch && i+1 < len(frames) {
				continue
			}
			if _, err := t.out.Write(b); err != nil {
				t.Close()
				return
			}
			b = b[:0]
		}
	}
}

// take waits for queued frames. open is false when no further frame can follow.
func (t *Trunk) take() (frames []Frame, open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.closed {
		t.wake.Wait()
	}
	frames, t.queue = t.queue, nil
	return frames, !t.closed || len(frames) > 0
}
