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

// forward sends one output stream of some ranks, whole lines at a time.
func (p *proxy) forward(from hydra.RankSet, stream channel.Kind, pipe *os.File) {
	lines := &lineCutter{emit: func(text []byte) { p.sendOutput(from, stream, text) }}
	if p.plan.Label {
		lines.prefix = fmt.Appendf(nil, "[%s] ", from.Label())
	}
	p.output.Go(func() {
		defer pipe.Close()
		p.copyLines(lines, pipe)
		lines.flush()
	})
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
