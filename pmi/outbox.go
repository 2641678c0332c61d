// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// maxUnread bounds what waits for a rank that does not read, beyond what its socket holds.
const maxUnread = 64 << 10

var errUnread = errors.New("replies are not read")

// An outbox writes the replies to one rank, in order. The rank's own session waits for it to read; others, who answer what the rank
// was waiting for, never do: they may have other ranks to answer.
type outbox struct {
	conn io.WriteCloser

	mu      sync.Mutex
	idle    *sync.Cond // no goroutine is writing, or none may
	writing bool
	queue   []string // what follows the write under way
	queued  int      // its bytes
	closed  bool
}

func newOutbox(conn io.WriteCloser) *outbox {
	o := &outbox{conn: conn}
	o.idle = sync.NewCond(&o.mu)
	return o
}

// write returns when the text is written.
func (o *outbox) write(text string) error {
	o.mu.Lock()
	for o.writing && !o.closed {
		o.idle.Wait()
	}
	if o.closed {
		o.mu.Unlock()
		return io.ErrClosedPipe
	}
	o.writing = true
	o.mu.Unlock()
	return o.flush(text)
}

// post does not wait for the rank to read.
func (o *outbox) post(text string) error {
	first, err := o.add(text)
	if !first || err != nil {
		return err
	}
	rest, more := tryWrite(o.conn, text), true
	if rest == "" {
		rest, more = o.next()
	}
	if more {
		go func() { _ = o.flush(rest) }() // a connection that is gone shows in the session's next read
	}
	return nil
}

// add queues the text behind a write under way. If there is none it reports that the caller is to write.
func (o *outbox) add(text string) (first bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return false, io.ErrClosedPipe
	case !o.writing:
		o.writing = true
		return true, nil
	case o.queued+len(text) > maxUnread:
		return false, errUnread
	}
	o.queue = append(o.queue, text)
	o.queued += len(text)
	return false, nil
}

// flush writes the text and what is queued meanwhile.
func (o *outbox) flush(text string) error {
	for more := true; more; text, more = o.next() {
		if _, err := io.WriteString(o.conn, text); err != nil {
			o.stop()
			return err
		}
	}
	return nil
}

// stop lets nothing more be written. The connection stays open, because it may hold requests that were sent before the
// rank ended, such as an abort.
func (o *outbox) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.idle.Broadcast()
}

// next takes a text out of the queue. If there is none the writing has ended.
func (o *outbox) next() (text string, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.writing = false
		o.idle.Signal()
		return "", false
	}
	text, o.queue = o.queue[0], o.queue[1:]
	o.queued -= len(text)
	return text, true
}

func (o *outbox) close() {
	o.stop()
	_ = o.conn.Close() // the peer may be gone
}

// tryWrite writes what a socket takes at once and returns the rest.
func tryWrite(conn io.Writer, text string) (rest string) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return text
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return text
	}
	_ = raw.Write(func(fd uintptr) bool { // an error shows when the rest is written
		if n, err := syscall.Write(int(fd), []byte(text)); err == nil {
			text = text[n:]
		}
		return true
	})
	return text
}
