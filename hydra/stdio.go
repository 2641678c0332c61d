// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A merger writes whole lines from many sources to one stream, on a goroutine of its own. The proxies' windows bound what waits
// to be written: a proxy gets credit when its output has been written.
type merger struct {
	out    io.Writer
	broken chan error // gets the first error; nothing is written after it

	mu      sync.Mutex
	wake    *sync.Cond
	queue   []piece
	busy    bool
	failed  bool
	repeats *repeats // lines that are shown once; nil shows all
	last    source   // the source of an unfinished line
	partial bool     // the last piece that was written did not end its line
}

type source struct {
	link *proxyLink
	rank int // the first rank that it is from
}

type piece struct {
	source
	kind channel.Kind
	text []byte
}

func newMerger(out *os.File) *merger {
	m := &merger{out: patient{out}, broken: make(chan error, 1)}
	m.wake = sync.NewCond(&m.mu)
	go m.run()
	return m
}

func (m *merger) write(link *proxyLink, frame channel.Frame) {
	m.add(piece{source{link, frame.Index}, frame.Kind, frame.Body})
}

// line writes a line that mpiexec has to say itself.
func (m *merger) line(text string) { m.add(piece{text: []byte(text + "\n")}) }

func (m *merger) add(p piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, p)
	m.wake.Broadcast()
}

// pending reports whether something waits to be written.
func (m *merger) pending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue) > 0 || m.busy
}

// flush waits until everything is written.
func (m *merger) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) > 0 || m.busy {
		m.wake.Wait()
	}
}

func (m *merger) run() {
	for {
		m.mu.Lock()
		m.busy = false
		m.wake.Broadcast()
		for len(m.queue) == 0 {
			m.wake.Wait()
		}
		pieces := m.queue
		m.queue, m.busy = nil, true
		m.mu.Unlock()
		for _, p := range pieces {
			m.put(p)
		}
	}
}

// put writes a piece. If another source has left its line unfinished, that line is ended first: the output of two sources never
// shares a line.
func (m *merger) put(p piece) {
	if p.link != nil {
		defer p.link.conn.SendCredit(p.kind, len(p.text))
	}
	if m.failed || len(p.text) == 0 {
		return
	}
	text := p.text
	if m.repeats != nil && p.link != nil && (!m.partial || m.last != p.source) {
		if text = m.repeats.drop(p.source, text); len(text) == 0 {
			return
		}
	}
	if m.partial && m.last != p.source {
		text = append([]byte{'\n'}, text...)
	}
	m.partial, m.last = text[len(text)-1] != '\n', p.source
	if _, err := m.out.Write(text); err != nil {
		m.failed = true
		m.broken <- err
	}
}

const (
	stdinChunk  = 64 << 10
	stdinWindow = 4 * stdinChunk
)

func (j *Job) stdinReaders() (readers []*proxyLink) {
	for _, link := range j.proxies {
		if link.stdin != nil {
			readers = append(readers, link)
		}
	}
	return readers
}

// feedStdin sends mpiexec's stdin to the proxies whose ranks read it, at the pace of the slowest. It closes stdin when no rank
// reads any more, so that the process that writes it gets SIGPIPE as in any pipeline.
func (j *Job) feedStdin(readers []*proxyLink) {
	defer func() {
		for _, link := range readers {
			link.conn.Send(channel.StdinEOF, 0, nil)
		}
	}()
	if len(readers) == 0 || inBackground() {
		return
	}
	for {
		readers = slices.DeleteFunc(readers, func(link *proxyLink) bool { return !link.stdin.Acquire(stdinChunk) })
		if len(readers) == 0 {
			os.Stdin.Close()
			return
		}
		chunk := make([]byte, stdinChunk)
		n, err := patient{os.Stdin}.Read(chunk)
		for _, link := range readers {
			if n > 0 {
				link.conn.Send(channel.Stdin, 0, chunk[:n])
			}
			link.stdin.Release(stdinChunk - n)
		}
		if err != nil {
			if !endOfStdin(err) {
				j.stderr.line(fmt.Sprintf("mpiexec: read standard input: %v", bare(err)))
			}
			return
		}
	}
}

// endOfStdin reports whether an error means no more than that nothing is left to read. nohup gives a stdin that cannot be read (EBADF).
func endOfStdin(err error) bool {
	if errors.Is(err, unix.EIO) {
		info, err := os.Stdin.Stat()
		return err == nil && info.Mode()&os.ModeCharDevice != 0 // a terminal that has gone
	}
	return errors.Is(err, io.EOF) || errors.Is(err, unix.EBADF)
}

// bare takes Go's name for a stream off an error.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// inBackground reports whether stdin is a terminal that belongs to another process group: reading it would stop the job
// (SIGTTIN).
func inBackground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}

// A patient file blocks even if another process has made the open file description that they share non-blocking, as ssh
// does with a terminal.
type patient struct{ *os.File }

// Read implements io.Reader.
func (f patient) Read(b []byte) (n int, err error) {
	for {
		if n, err = f.File.Read(b); !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		f.await(unix.POLLIN)
	}
}

// Write implements io.Writer.
func (f patient) Write(b []byte) (n int, err error) {
	for {
		part, err := f.File.Write(b[n:])
		if n += part; !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		f.await(unix.POLLOUT)
	}
}

// await waits until the file can be read or written. It may return early; the next call then finds the error.
func (f patient) await(event int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: event}}, -1)
}
