// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A side is one way to do a contest's task: a command.
type side struct {
	env  []string
	argv []string
	// job names a benchmark of the whole command's time; without it the
	// command prints benchmark lines.
	job  string
	want string // what a job prints
	// hangs: no answer within the limit is an answer, told and not an error.
	hangs bool
}

// A contest is a set of sides that are compared.
type contest struct {
	limit time.Duration // for one run
	sides []side
}

// only keeps the sides whose label matches.
func only(contests []contest, pattern *regexp.Regexp) (kept []contest) {
	for _, c := range contests {
		var sides []side
		for _, s := range c.sides {
			if pattern.MatchString(s.label()) {
				sides = append(sides, s)
			}
		}
		if len(sides) > 0 {
			kept = append(kept, contest{c.limit, sides})
		}
	}
	return kept
}

// label names a side: its job, or its program with arguments, then how it is started:
// "latency tpsl threads (-n 2 -rpp 2)".
func (s side) label() string {
	if s.job != "" {
		return s.job
	}
	program, start := s.argv, s.env
	for i, arg := range s.argv {
		if filepath.Dir(arg) == builtFolder && arg != twoHosts {
			name, _, _ := strings.Cut(filepath.Base(arg), "-")
			program = append([]string{name}, s.argv[i+1:]...)
			start = append(start[:len(start):len(start)], s.argv[min(i, 1):i]...)
			break
		}
	}
	text := strings.Join(program, " ")
	if len(start) > 0 {
		text += " (" + strings.Join(start, " ") + ")"
	}
	return text
}

// run runs the side once and returns what it printed and how long it took.
func (s side) run(ctx context.Context, limit time.Duration) (output string, took time.Duration, err error) {
	ctx, cancel := testsupport.WithLimit(ctx, limit)
	defer cancel()
	begin := time.Now()
	stdout, stderr, code, err := testsupport.OutputContext(ctx, s.env, s.argv...)
	took = time.Since(begin)
	if err != nil {
		return "", took, err
	}
	if code != 0 {
		return "", took, fmt.Errorf("%s: exit code %d\n%s%s", strings.Join(s.argv, " "), code, stdout, stderr)
	}
	return stdout, took, nil
}

// jobLine returns the benchmark line of a job that printed what it should.
func (s side) jobLine(printed string, took time.Duration) (string, error) {
	if printed != s.want {
		return "", fmt.Errorf("%s: printed %q, expected %q", strings.Join(s.argv, " "), printed, s.want)
	}
	return fmt.Sprintf("Benchmark%s 1 %.3f ms/job\n", s.job, took.Seconds()*1e3), nil
}
