// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// What a test binary says of its tests: see testing's -v, and T.Attr. -test.v=test2json has it mark these lines.
var (
	beginning = regexp.MustCompile(`^(\x16?)=== (RUN|NAME|PAUSE|CONT|ATTR) +(\S+)(?: limit (\S+))?`)
	ending    = regexp.MustCompile(`^\x16? *--- (?:PASS|FAIL|SKIP): (\S+) \(`)
)

// A progress passes the output of a test binary on, and reads in it what the tests do.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	marker  string
	line    []byte        // the last one, as far as it has come
	limit   time.Duration // without progress
	last    time.Time     // when there was progress
	running []*test       // in the order of their beginning
	begun   []string      // all that are no subtests
}

type test struct {
	name  string
	began time.Time
	limit time.Duration
}

func newProgress(out io.Writer, limit time.Duration) *progress {
	return &progress{out: out, limit: limit, last: time.Now()}
}

// Write passes all on at once, half lines too.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := b; len(rest) > 0; {
		piece, after, whole := bytes.Cut(rest, []byte("\n"))
		p.line = append(p.line, piece...)
		if whole {
			p.read(string(p.line))
			p.line = p.line[:0]
		}
		rest = after
	}
	return p.out.Write(b)
}

func (p *progress) read(line string) {
	if m := beginning.FindStringSubmatch(line); m != nil {
		p.marker = m[1]
		switch name := m[3]; m[2] {
		case "RUN":
			p.last = time.Now()
			p.running = append(p.running, &test{name: name, began: p.last})
			if !strings.Contains(name, "/") {
				p.begun = append(p.begun, name)
			}
		case "ATTR":
			if limit, err := time.ParseDuration(m[4]); err == nil {
				p.allow(name, limit)
			}
		case "CONT":
			p.last = time.Now()
		}
	} else if m := ending.FindStringSubmatch(line); m != nil {
		p.last = time.Now()
		p.running = slices.DeleteFunc(p.running, func(t *test) bool { return t.name == m[1] })
	}
}

func (p *progress) allow(name string, limit time.Duration) {
	for _, t := range p.running {
		if t.name == name {
			t.limit = limit
		}
	}
}

// deadline is when a test hangs, unless there is progress.
func (p *progress) deadline() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Add(p.allowed())
}

func (p *progress) allowed() time.Duration {
	limit := p.limit
	for _, t := range p.running {
		limit = max(limit, t.limit)
	}
	return limit
}

// say adds a line to the output that is not the binary's.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(p.marker + line)
}

func (p *progress) write(text string) {
	if len(p.line) > 0 {
		text = "\n" + text
		p.line = nil
	}
	_, _ = io.WriteString(p.out, text)
}

// hangs says in the log of the test that began last which one hangs, and what its processes are doing.
func (p *progress) hangs(stacks string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := "the test binary, outside of its tests,"
	if n := len(p.running); n > 0 {
		name = p.running[n-1].name
		p.write(fmt.Sprintf("%s=== NAME  %s\n", p.marker, name))
	}
	p.write(fmt.Sprintf("%s hangs: no progress for %v; its processes:\n%s", name, p.allowed(), stacks))
}

// fail ends the tests that are running, subtests first.
func (p *progress) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range slices.Backward(p.running) {
		p.write(fmt.Sprintf("%s--- FAIL: %s (%.2fs)\n", p.marker, t.name, time.Since(t.began).Seconds()))
	}
}
