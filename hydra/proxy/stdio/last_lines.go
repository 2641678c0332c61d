// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"bytes"
	"sync"
)

const (
	// keptBytes is how much of the end of a rank's stderr is kept.
	keptBytes = 2 << 10
	// toldLines is how many lines of that are sent to mpiexec.
	toldLines = 5
)

// lastLines keeps the end of what some ranks wrote to stderr.
type lastLines struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastLines) keep(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text[max(0, len(text)-keptBytes):]...)
	l.text = l.text[max(0, len(l.text)-keptBytes):]
}

// tail returns the last lines. The first of them may lack its beginning.
func (l *lastLines) tail() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.SplitAfter(l.text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return bytes.Join(lines[max(0, len(lines)-toldLines):], nil)
}

// LastLines returns the last lines that ranks wrote to stderr: those of a private rank, or of the process with that first rank.
// known is false if nothing was ever read of them.
func (o *Output) LastLines(first int) (text []byte, known bool) {
	o.mu.Lock()
	kept := o.last[first]
	o.mu.Unlock()
	if kept == nil {
		return nil, false
	}
	return kept.tail(), true
}
