// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

const (
	// firstRead is the room for what a stream's first reads give: most ranks print little. A read that fills it makes room
	// for readSize.
	firstRead = 1 << 10
	readSize  = 64 << 10
	// promptPause is how long an unfinished line waits at a terminal before it is shown: it may be a prompt.
	promptPause = 100 * time.Millisecond
	// maxFrame bounds one output frame, well below the window.
	maxFrame = 1 << 20
)

// cutter returns what takes one output stream of some ranks where it belongs, whole lines at a time.
func (p *proxy) cutter(from plan.RankSet, stream channel.Kind) *lineCutter {
	lines := &lineCutter{emit: func(text []byte) { p.sendOutput(from, stream, text) }}
	name := p.fileName(from, stream)
	switch {
	case !p.host.Stdio.From.HoldAny(from.Ranks):
		lines.emit = func([]byte) {}
	case name != "":
		lines.emit = func(text []byte) { p.writeFile(from, name, text) }
	}
	if p.host.Stdio.Label != "" {
		lines.prefix = p.label(from, name == "" && p.coloured(stream))
	}
	return lines
}

// forward reads one output stream of some ranks to its end.
func (p *proxy) forward(from plan.RankSet, stream channel.Kind, pipe *os.File) {
	lines := p.cutter(from, stream)
	if stream == channel.Stderr {
		kept, emit := new(words), lines.emit
		lines.emit = func(text []byte) { kept.keep(text); emit(text) }
		p.mu.Lock()
		p.words[from.Ranks[0]] = kept
		p.mu.Unlock()
	}
	p.mu.Lock()
	p.pipes = append(p.pipes, pipe)
	p.mu.Unlock()
	p.output.Go(func() {
		defer pipe.Close()
		p.copyLines(lines, pipe)
		lines.flush()
	})
}

// label returns what makes the text in front of each line.
func (p *proxy) label(from plan.RankSet, coloured bool) func() string {
	return func() string {
		text := p.host.Stdio.Label.Expand(p.place(from))
		if !coloured {
			return text
		}
		const first, colours = 31, 6 // red to cyan, which show on light and dark (ECMA-48, SGR)
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", first+from.Ranks[0]%colours, text)
	}
}

func (p *proxy) coloured(stream channel.Kind) bool {
	return stream == channel.Stdout && p.host.ColourOut || stream == channel.Stderr && p.host.ColourErr
}

// place is what patterns stand for here and now.
func (p *proxy) place(from plan.RankSet) plan.Origin {
	return plan.Origin{
		Group:   p.host.Group,
		Label:   from.Label(),
		Proxy:   p.host.ID,
		Host:    p.host.Name,
		Seconds: int(time.Since(p.began).Seconds()),
	}
}

// copyLines reads to the end of the pipe. After the sweep it takes what is there: who may still write is none of the job's.
func (p *proxy) copyLines(lines *lineCutter, pipe *os.File) {
	chunk := make([]byte, firstRead)
	for {
		if p.swept.Load() {
			lines.write(whatIsThere(pipe))
			return
		}
		if p.host.Prompt && len(lines.partial) > 0 {
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

// endReading ends what waits for output that nobody of the job can write any more.
func (p *proxy) endReading() {
	p.swept.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pipe := range p.pipes {
		_ = pipe.SetReadDeadline(time.Now()) // it may be closed, having ended
	}
}

func (p *proxy) sendOutput(from plan.RankSet, stream channel.Kind, text []byte) {
	for len(text) > 0 {
		part := text[:min(len(text), maxFrame)]
		text = text[len(part):]
		if p.windows[stream].Acquire(len(part)) {
			p.conn.Send(stream, from.Ranks[0], part)
		}
	}
}
