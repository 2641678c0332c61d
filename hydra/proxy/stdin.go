// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A stdinPump writes rank 0's stdin at the pace at which it is read. mpiexec sends no more than its window allows.
type stdinPump struct {
	conn *channel.Conn

	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	eof    bool
	closed bool
	pipe   *os.File
}

func newStdinPump(conn *channel.Conn) *stdinPump {
	s := &stdinPump{conn: conn}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// attach starts writing to the pipe.
func (s *stdinPump) attach(pipe *os.File) {
	s.mu.Lock()
	s.pipe = pipe
	s.mu.Unlock()
	go s.run()
}

func (s *stdinPump) feed(frame channel.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frame.Kind == channel.StdinEOF {
		s.eof = true
	} else {
		s.queue = append(s.queue, frame.Body)
	}
	s.wake.Signal()
}

// close ends a write that nobody reads.
func (s *stdinPump) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.pipe != nil {
		s.pipe.Close()
	}
	s.wake.Signal()
}

func (s *stdinPump) run() {
	for chunk := range s.chunks {
		if _, err := s.pipe.Write(chunk); err != nil {
			s.conn.Send(channel.StdinClosed, 0, nil)
			break
		}
		s.conn.SendCredit(channel.Stdin, len(chunk))
	}
	s.close()
}

// chunks yields what is to be written until the end of stdin.
func (s *stdinPump) chunks(yield func([]byte) bool) {
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.eof && !s.closed {
			s.wake.Wait()
		}
		if s.closed || len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		chunk := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		if !yield(chunk) {
			return
		}
	}
}
