// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	// wordsKept bounds what is kept of a rank's stderr.
	wordsKept = 2 << 10
	// wordsLines is how many lines of it are told.
	wordsLines = 5
)

// words keeps the end of what some ranks wrote to stderr.
type words struct {
	mu   sync.Mutex
	text []byte
}

func (w *words) keep(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text[max(0, len(text)-wordsKept):]...)
	w.text = w.text[max(0, len(w.text)-wordsKept):]
}

// last returns the last lines. What was cut off at the front of the first one is not missed.
func (w *words) last() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := bytes.SplitAfter(w.text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return bytes.Join(lines[max(0, len(lines)-wordsLines):], nil)
}

// failedFirst notes which ranks of the host were the first to fail. Preconditions: p.mu is held.
func (p *proxy) failedFirst(ranks []int) {
	if p.failed == nil {
		p.failed = ranks
	}
}

// sendWords tells the last lines of the host's first failure, when all output is read.
func (p *proxy) sendWords() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		return
	}
	kept := p.words[p.failed[0]] // its own in private mode
	if kept == nil {
		return
	}
	p.conn.SendValue(channel.LastWords, channel.Words{Ranks: p.failed, Text: kept.last()})
}
