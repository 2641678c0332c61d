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

// maxTail is how much of a launcher's stderr is kept, in bytes.
const maxTail = 2 << 10

// A stderrTail keeps the end of what a launcher writes to its stderr. After the proxy has answered, further output is shown
// immediately.
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
		_, _ = t.show.Write(b) // an error means that nobody reads stderr any more
	}
	return len(b), nil
}

// live passes further output of the launcher on to stderr. Earlier output, such as banners and warnings, is dropped.
func (t *stderrTail) live() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail, t.show = nil, os.Stderr
}

// String returns the kept output on one line.
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
