// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"os"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
)

// An Input writes mpiexec's stdin to each reader, at the pace of the slowest one. mpiexec sends no more than its window
// allows; it gets credit for a chunk when every reader has taken it.
type Input struct {
	conn *channel.Conn

	mu      sync.Mutex
	wake    *sync.Cond
	chunks  [][]byte // those that the slowest reader has not taken
	first   int      // number of chunks[0]; the first chunk of the job is 0
	eof     bool
	closed  bool
	readers map[*os.File]int // number of the chunk that each one is at
	sealed  bool             // no more readers are attached
}

// NewInput returns an input without readers.
func NewInput(conn *channel.Conn) *Input {
	in := &Input{conn: conn, readers: map[*os.File]int{}}
	in.wake = sync.NewCond(&in.mu)
	return in
}

// Attach starts writing to a reader's pipe, from the beginning of stdin.
func (in *Input) Attach(pipe *os.File) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.readers[pipe] = 0
	go in.run(pipe)
}

// Seal says that every reader is attached. From now on chunks are dropped when all readers have taken them.
func (in *Input) Seal() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sealed = true
	in.drop()
}

// Feed takes a frame with stdin, or its end.
func (in *Input) Feed(frame channel.Frame) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if frame.Kind == channel.StdinEOF {
		in.eof = true
	} else {
		in.chunks = append(in.chunks, frame.Body)
	}
	in.wake.Broadcast()
}

// Close ends the writes to readers that do not read.
func (in *Input) Close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	for pipe := range in.readers {
		pipe.Close()
	}
	in.wake.Broadcast()
}

// run writes every chunk to one pipe.
func (in *Input) run(pipe *os.File) {
	defer pipe.Close()
	for at := 0; ; at++ {
		chunk := in.chunk(at)
		if chunk == nil {
			return // the reader stays listed, as it has not refused any input
		}
		if _, err := pipe.Write(chunk); err != nil {
			in.leave(pipe)
			return
		}
		in.passed(pipe, at+1)
	}
}

// chunk waits for the chunk of a number. It returns nil at the end of stdin.
func (in *Input) chunk(at int) []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	for at >= in.first+len(in.chunks) && !in.eof && !in.closed {
		in.wake.Wait()
	}
	if in.closed || at >= in.first+len(in.chunks) {
		return nil
	}
	return in.chunks[at-in.first]
}

func (in *Input) passed(pipe *os.File, at int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.readers[pipe] = at
	in.drop()
}

// leave forgets a reader that reads no more.
func (in *Input) leave(pipe *os.File) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.readers, pipe)
	in.drop()
}

// drop gives mpiexec credit for the chunks that every reader has taken. If there is no reader left it says so.
// Preconditions: in.mu is held.
func (in *Input) drop() {
	if !in.sealed {
		return
	}
	if len(in.readers) == 0 {
		in.conn.Send(channel.StdinClosed, 0, nil)
		return
	}
	for len(in.chunks) > 0 {
		for _, at := range in.readers {
			if at <= in.first {
				return
			}
		}
		in.conn.SendCredit(channel.Stdin, len(in.chunks[0]))
		in.chunks = in.chunks[1:]
		in.first++
	}
}
