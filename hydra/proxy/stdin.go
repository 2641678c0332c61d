// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A stdinFan writes stdin to each reader at the pace at which the slowest one reads. mpiexec sends no more than its window
// allows, which gets room when every reader has a chunk.
type stdinFan struct {
	conn *channel.Conn

	mu      sync.Mutex
	wake    *sync.Cond
	chunks  [][]byte // that the slowest reader has not
	first   int      // number of chunks[0], counted from the job's begin
	eof     bool
	closed  bool
	readers map[*os.File]int // number of the chunk that each one is at
	sealed  bool             // no reader comes any more
}

func newStdinFan(conn *channel.Conn) *stdinFan {
	s := &stdinFan{conn: conn, readers: map[*os.File]int{}}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// attach starts writing to a reader's pipe, from the begin of stdin.
func (s *stdinFan) attach(pipe *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers[pipe] = 0
	go s.run(pipe)
}

// seal tells that every reader is attached: what all of them have is dropped.
func (s *stdinFan) seal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	s.drop()
}

func (s *stdinFan) feed(frame channel.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frame.Kind == channel.StdinEOF {
		s.eof = true
	} else {
		s.chunks = append(s.chunks, frame.Body)
	}
	s.wake.Broadcast()
}

// close ends writes that nobody reads.
func (s *stdinFan) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for pipe := range s.readers {
		pipe.Close()
	}
	s.wake.Broadcast()
}

// run writes every chunk to one pipe.
func (s *stdinFan) run(pipe *os.File) {
	defer pipe.Close()
	for at := 0; ; at++ {
		chunk := s.chunk(at)
		if chunk == nil {
			return // the reader stays listed: what it read was wanted
		}
		if _, err := pipe.Write(chunk); err != nil {
			s.leave(pipe)
			return
		}
		s.passed(pipe, at+1)
	}
}

// chunk waits for a chunk; nil is the end of stdin.
func (s *stdinFan) chunk(at int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at >= s.first+len(s.chunks) && !s.eof && !s.closed {
		s.wake.Wait()
	}
	if s.closed || at >= s.first+len(s.chunks) {
		return nil
	}
	return s.chunks[at-s.first]
}

func (s *stdinFan) passed(pipe *os.File, at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers[pipe] = at
	s.drop()
}

// leave forgets a reader that reads no more.
func (s *stdinFan) leave(pipe *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, pipe)
	s.drop()
}

// drop gives mpiexec credit for the chunks that every reader has, or tells that nobody reads.
// Preconditions: s.mu is held.
func (s *stdinFan) drop() {
	if !s.sealed {
		return
	}
	if len(s.readers) == 0 {
		s.conn.Send(channel.StdinClosed, 0, nil)
		return
	}
	for len(s.chunks) > 0 {
		for _, at := range s.readers {
			if at <= s.first {
				return
			}
		}
		s.conn.SendCredit(channel.Stdin, len(s.chunks[0]))
		s.chunks = s.chunks[1:]
		s.first++
	}
}
