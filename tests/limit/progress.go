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

// marker begins what -test.v=test2json has a test binary say of its tests, wherever on a line that is. With it the end of a
// subtest is told at once; without, only when the whole test has ended.
const marker = "\x16"

// See testing's -v, and T.Attr.
var (
	beginning = regexp.MustCompile(`^=== (RUN|NAME|PAUSE|CONT|ATTR) +(\S+)(?: limit (\S+))?`)
	ending    = regexp.MustCompile(`^ *--- (?:PASS|FAIL|SKIP): (\S+) \(`)
)

// A progress passes the output of a test binary on, and reads in it what the tests do.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	line    []byte        // the last one, as far as it has come
	limit   time.Duration // without progress
	quiet   time.Duration // ticks since there was progress
	running []*test       // those that have not ended, in the order of their beginning
	begun   []string      // all that are no subtests
}

type test struct {
	name   string
	began  time.Time
	limit  time.Duration
	paused bool // by T.Parallel
}

// within tells whether t is a test, or a subtest of it.
func (t *test) within(name string) bool { return t.name == name || strings.HasPrefix(t.name, name+"/") }

func newProgress(out io.Writer, limit time.Duration) *progress {
	return &progress{out: out, limit: limit}
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
	_, line, marked := cutLast(line, marker)
	if !marked {
		return
	}
	if m := beginning.FindStringSubmatch(line); m != nil {
		p.happened(m[1], m[2], m[3])
	} else if m := ending.FindStringSubmatch(line); m != nil {
		p.quiet = 0
		p.running = slices.DeleteFunc(p.running, func(t *test) bool { return t.name == m[1] })
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// happened notes what a test does that has not ended. Its limit is what it asks for, if it does.
func (p *progress) happened(what, name, limit string) {
	switch what {
	case "RUN":
		p.quiet = 0
		p.running = append(p.running, &test{name: name, began: time.Now()})
		if !strings.Contains(name, "/") {
			p.begun = append(p.begun, name)
		}
	case "ATTR":
		if limit, err := time.ParseDuration(limit); err == nil {
			p.change(name, func(t *test) { t.limit = limit })
		}
	case "PAUSE":
		p.change(name, func(t *test) { t.paused = true })
	case "CONT":
		p.quiet = 0
		p.change(name, func(t *test) { t.paused = false })
	}
}

func (p *progress) change(name string, how func(*test)) {
	for _, t := range p.running {
		if t.name == name {
			how(t)
		}
	}
}

// tick counts a tick of limit, and tells whether a test hangs: there was no progress for as many ticks as are allowed. They are counted,
// and not time, because while limit is stopped or gets no processor it reads no progress either, and there are no ticks.
func (p *progress) tick(length time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet += length
	return p.quiet >= p.allowed()
}

func (p *progress) allowed() time.Duration {
	limit := p.limit
	for _, t := range p.running {
		if !t.paused {
			limit = max(limit, t.limit)
		}
	}
	return limit
}

// say adds a line to the output that is not the binary's.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(marker + line)
}

func (p *progress) write(text string) {
	if len(p.line) > 0 {
		text = "\n" + text
		p.line = nil
	}
	_, _ = io.WriteString(p.out, text)
}

// active lists the tests of which each may be what hangs: those that neither wait for their turn nor for a subtest that is active.
func (p *progress) active() (names []string) {
	for _, t := range slices.Backward(p.running) {
		if !t.paused && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, t.name+"/") }) {
			names = append(names, t.name)
		}
	}
	slices.Reverse(names)
	return names
}

// hangs says in the logs of the tests that are active which one hangs, or that it is one of them, and in the last one's what
// their processes are doing.
func (p *progress) hangs(stacks string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.active()
	who := strings.Join(names, " or ")
	if len(names) == 0 {
		who = "the test binary, outside of its tests,"
	}
	said := fmt.Sprintf("%s hangs: no progress for %v", who, p.allowed())
	for i, name := range names {
		p.log(name)
		if last := names[len(names)-1]; i < len(names)-1 {
			p.write(fmt.Sprintf("%s; the log of %s has the processes\n", said, last))
		}
	}
	p.write(said + "; its processes:\n" + stacks)
}

// log makes what follows a part of a test's log.
func (p *progress) log(name string) { p.write(fmt.Sprintf("%s=== NAME  %s\n", marker, name)) }

// fail ends the tests that have not ended, subtests first, and forgets tests that have only begun to wait for their turn: they
// are to run again.
func (p *progress) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.running {
		if t.paused && !strings.Contains(t.name, "/") {
			p.forget(t.name)
		}
	}
	who := strings.Join(p.active(), " or ")
	for _, t := range slices.Backward(p.running) {
		if t.paused {
			p.log(t.name)
			p.write(fmt.Sprintf("it waited for its turn: %s hangs\n", who))
		}
		p.write(fmt.Sprintf("%s--- FAIL: %s (%.2fs)\n", marker, t.name, time.Since(t.began).Seconds()))
	}
}

func (p *progress) forget(name string) {
	p.begun = slices.DeleteFunc(p.begun, func(other string) bool { return other == name })
	p.running = slices.DeleteFunc(slices.Clone(p.running), func(t *test) bool { return t.within(name) })
}
