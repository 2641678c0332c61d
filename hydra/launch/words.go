// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
)

// maxWords bounds what is kept of a launcher's words.
const maxWords = 2 << 10

// words keep the end of what a launcher says on its stderr. Once the proxy has answered they are shown at once.
type words struct {
	mu   sync.Mutex
	tail []byte
	show io.Writer
}

// Write implements io.Writer.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, b...)
	if extra := len(w.tail) - maxWords; extra > 0 {
		w.tail = w.tail[extra:]
	}
	if w.show != nil {
		_, _ = w.show.Write(b) // who reads stderr no more has lost nothing else
	}
	return len(b), nil
}

// live makes the words go to stderr from now on. What was said before, banners and warnings, is forgotten.
func (w *words) live() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail, w.show = nil, os.Stderr
}

// String returns the words on one line.
func (w *words) String() string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return oneLine(w.tail)
}

func oneLine(text []byte) string {
	var lines []string
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, strings.ToValidUTF8(string(line), "?"))
		}
	}
	return strings.Join(lines, "; ")
}
