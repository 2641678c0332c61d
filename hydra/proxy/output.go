// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	readSize = 64 << 10
	// promptPause is how long an unfinished line waits at a terminal before it is shown: it may be a prompt.
	promptPause = 100 * time.Millisecond
	// maxFrame bounds one output frame, well below the window.
	maxFrame = 1 << 20
)

// forward takes one output stream of some ranks where it belongs, whole lines at a time.
func (p *proxy) forward(from hydra.RankSet, stream channel.Kind, pipe *os.File) {
	lines := &lineCutter{emit: func(text []byte) { p.sendOutput(from, stream, text) }}
	name := p.fileName(from, stream)
	switch {
	case !p.plan.Stdio.From.HoldAny(from.Ranks):
		lines.emit = func([]byte) {}
	case name != "":
		lines.emit = func(text []byte) { p.writeFile(from, name, text) }
	}
	if p.plan.Stdio.Label != "" {
		lines.prefix = p.label(from, name == "" && p.coloured(stream))
	}
	if stream == channel.Stderr {
		kept, emit := new(words), lines.emit
		lines.emit = func(text []byte) { kept.keep(text); emit(text) }
		p.mu.Lock()
		p.words[from.Ranks[0]] = kept
		p.mu.Unlock()
	}
	p.output.Go(func() {
		defer pipe.Close()
		p.copyLines(lines, pipe)
		lines.flush()
	})
}

// label returns what makes the text in front of each line.
func (p *proxy) label(from hydra.RankSet, coloured bool) func() string {
	return func() string {
		text := p.plan.Stdio.Label.Expand(p.place(from))
		if !coloured {
			return text
		}
		const first, colours = 31, 6 // red to cyan, which show on light and dark (ECMA-48, SGR)
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", first+from.Ranks[0]%colours, text)
	}
}

func (p *proxy) coloured(stream channel.Kind) bool {
	return stream == channel.Stdout && p.plan.ColourOut || stream == channel.Stderr && p.plan.ColourErr
}

// place is what patterns stand for here and now.
func (p *proxy) place(from hydra.RankSet) hydra.Place {
	return hydra.Place{
		Group:   p.plan.Group,
		Label:   from.Label(),
		Proxy:   p.plan.ID,
		Host:    p.plan.Host,
		Seconds: int(time.Since(p.began).Seconds()),
	}
}

func (p *proxy) copyLines(lines *lineCutter, pipe *os.File) {
	chunk := make([]byte, readSize)
	for {
		if p.plan.Prompt && len(lines.partial) > 0 {
			_ = pipe.SetReadDeadline(time.Now().Add(promptPause)) // pipes take deadlines
		}
		n, err := pipe.Read(chunk)
		lines.write(chunk[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			lines.flush()
			_ = pipe.SetReadDeadline(time.Time{})
		} else if err != nil {
			return
		}
	}
}

func (p *proxy) sendOutput(from hydra.RankSet, stream channel.Kind, text []byte) {
	for len(text) > 0 {
		part := text[:min(len(text), maxFrame)]
		text = text[len(part):]
		if p.windows[stream].Acquire(len(part)) {
			p.conn.Send(stream, from.Ranks[0], part)
		}
	}
}
