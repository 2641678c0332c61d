// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

const (
	// firstRead is the size of a stream's first buffer, in bytes: most ranks print little. A read that fills it is followed by a
	// buffer of readSize.
	firstRead = 1 << 10
	readSize  = 64 << 10
	// promptPause is how long an unfinished line waits at a terminal before it is shown: it may be a prompt.
	promptPause = 100 * time.Millisecond
	// maxFrame is the most bytes of output in one frame. It is well below the window.
	maxFrame = 1 << 20
)

// An Output takes what the ranks of a host write to mpiexec, to files, or nowhere, as the user wants it.
type Output struct {
	host    plan.Host
	conn    *channel.Conn
	began   time.Time
	windows map[channel.Kind]*channel.Window
	files   map[string]*outFile // by name; made before anything is read
	frames  frameNamer
	reading sync.WaitGroup // goroutines that read pipes
	swept   atomic.Bool    // the processes of the job have been killed

	mu    sync.Mutex
	pipes []*os.File
	last  map[int]*lastLines // on stderr, by the first rank of who wrote them
}

// NewOutput returns the output of a host's ranks. began is when the job began, for patterns with %t.
func NewOutput(host plan.Host, conn *channel.Conn, began time.Time) *Output {
	return &Output{
		host:  host,
		conn:  conn,
		began: began,
		windows: map[channel.Kind]*channel.Window{
			channel.Stdout: channel.NewWindow(channel.WindowSize),
			channel.Stderr: channel.NewWindow(channel.WindowSize),
		},
		last: map[int]*lastLines{},
	}
}

// Release notes that mpiexec has taken n bytes of a stream.
func (o *Output) Release(stream channel.Kind, n int) {
	if window := o.windows[stream]; window != nil {
		window.Release(n)
	}
}

// Close drops what is written from now on: mpiexec is gone.
func (o *Output) Close() {
	for _, window := range o.windows {
		window.Close()
	}
}

// Wait returns when every pipe has been read to its end.
func (o *Output) Wait() { o.reading.Wait() }

// cutter returns what cuts one output stream of some ranks into lines and passes them on.
func (o *Output) cutter(from plan.RankSet, stream channel.Kind) *lineCutter {
	lines := &lineCutter{emit: func(text []byte) { o.send(from, stream, text) }}
	name := o.fileName(from, stream)
	switch {
	case !o.host.Stdio.From.HoldAny(from.Ranks):
		lines.emit = func([]byte) {}
	case name != "":
		lines.emit = func(text []byte) { o.writeFile(from, name, text) }
	}
	if stream == channel.Stderr {
		dir := o.host.Programs[from.Program].Wdir
		lines.rewrite = func(text []byte) []byte { return o.frames.name(text, dir) }
	}
	if o.host.Stdio.Label != "" {
		lines.prefix = o.label(from, name == "" && o.coloured(stream))
	}
	return lines
}

// Forward starts to read one output stream of some ranks, and closes the pipe at its end.
func (o *Output) Forward(from plan.RankSet, stream channel.Kind, pipe *os.File) {
	lines := o.cutter(from, stream)
	if stream == channel.Stderr {
		kept, emit := new(lastLines), lines.emit
		lines.emit = func(text []byte) { kept.keep(text); emit(text) }
		o.mu.Lock()
		o.last[from.Ranks[0]] = kept
		o.mu.Unlock()
	}
	o.mu.Lock()
	o.pipes = append(o.pipes, pipe)
	o.mu.Unlock()
	o.reading.Go(func() {
		defer pipe.Close()
		o.copyLines(lines, pipe)
		lines.flush()
	})
}

// Show passes a text on as if the ranks had written it to the stream.
func (o *Output) Show(from plan.RankSet, stream channel.Kind, text []byte) {
	lines := o.cutter(from, stream)
	lines.write(text)
	lines.flush()
}

// label returns a function that makes the label of a line.
func (o *Output) label(from plan.RankSet, coloured bool) func() string {
	return func() string {
		text := o.host.Stdio.Label.Expand(o.origin(from))
		if !coloured {
			return text
		}
		const first, colours = 31, 6 // red to cyan, which show on light and dark (ECMA-48, SGR)
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", first+from.Ranks[0]%colours, text)
	}
}

func (o *Output) coloured(stream channel.Kind) bool {
	return stream == channel.Stdout && o.host.ColourOut || stream == channel.Stderr && o.host.ColourErr
}

// origin returns what the parts of a pattern stand for, now.
func (o *Output) origin(from plan.RankSet) plan.Origin {
	return plan.Origin{
		Group:   o.host.Group,
		Label:   from.Label(),
		Proxy:   o.host.ID,
		Host:    o.host.Name,
		Seconds: int(time.Since(o.began).Seconds()),
	}
}

// copyLines reads to the end of the pipe. When the processes of the job have been killed it takes what the pipe holds and stops:
// processes that are not the job's, or that do not die, may still have the other end.
func (o *Output) copyLines(lines *lineCutter, pipe *os.File) {
	chunk := make([]byte, firstRead)
	for {
		if o.swept.Load() {
			lines.write(whatIsThere(pipe))
			return
		}
		if o.host.Prompt && len(lines.partial) > 0 {
			_ = pipe.SetReadDeadline(time.Now().Add(promptPause)) // pipes take deadlines
		}
		n, err := pipe.Read(chunk)
		lines.write(chunk[:n])
		if n == len(chunk) && n < readSize {
			chunk = make([]byte, readSize)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			lines.flush()
			_ = pipe.SetReadDeadline(time.Time{})
		} else if err != nil {
			return
		}
	}
}

// whatIsThere reads a pipe without waiting. One call returns all that it holds.
func whatIsThere(pipe *os.File) []byte {
	var text []byte
	raw, err := pipe.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) {
			size, _ := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
			text = make([]byte, max(size, readSize))
			n, _ := unix.Read(int(fd), text)
			text = text[:max(n, 0)]
		})
	}
	return text
}

// EndReading ends the reads of pipes when the processes of the job have been killed. It does not wait for what still has their other end.
func (o *Output) EndReading() {
	o.swept.Store(true)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pipe := range o.pipes {
		_ = pipe.SetReadDeadline(time.Now()) // it may have ended and be closed
	}
}

func (o *Output) send(from plan.RankSet, stream channel.Kind, text []byte) {
	for len(text) > 0 {
		part := text[:min(len(text), maxFrame)]
		text = text[len(part):]
		if o.windows[stream].Acquire(len(part)) {
			o.conn.Send(stream, from.Ranks[0], part)
		}
	}
}
