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

// maxTail bounds what is kept of what a launcher says, in bytes.
const maxTail = 2 << 10

// A stderrTail keeps the end of what a launcher says on its stderr. Once the proxy has answered, it is shown at once.
type stderrTail struct {
	mu   sync.Mutex
	tail []byte
	show io.Writer
}

// Write implements io.Writer.
func (t *stderrTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail = append(t.tail, b...)
	if extra := len(t.tail) - maxTail; extra > 0 {
		t.tail = t.tail[extra:]
	}
	if t.show != nil {
		_, _ = t.show.Write(b) // who reads stderr no more has lost nothing else
	}
	return len(b), nil
}

// live makes what it says go to stderr from now on. What was said before, banners and warnings, is forgotten.
func (t *stderrTail) live() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail, t.show = nil, os.Stderr
}

// String returns it on one line.
func (t *stderrTail) String() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return oneLine(t.tail)
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
