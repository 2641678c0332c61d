// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A Side is one way to do a contest's task: a command.
type Side struct {
	Env  []string
	Argv []string
	// Name is what it is called; without it, what its command tells.
	Name string
	// Job names a benchmark of the whole command's time; without it the
	// command prints benchmark lines.
	Job  string
	Want string // what a job prints
	// In runs the command elsewhere than here, as testsupport.OutputContext does.
	In func(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error)
	// Hangs: no answer within the limit is an answer, told and not an error.
	Hangs bool
}

// A Contest is a set of sides that are compared.
type Contest struct {
	Limit time.Duration // for one run
	Sides []Side
	Turns int // in which the sides run at most; 0: in all
}

// Only keeps the sides whose label matches.
func Only(contests []Contest, pattern *regexp.Regexp) (kept []Contest) {
	for _, c := range contests {
		var sides []Side
		for _, s := range c.Sides {
			if pattern.MatchString(s.Label()) {
				sides = append(sides, s)
			}
		}
		if len(sides) > 0 {
			c.Sides = sides
			kept = append(kept, c)
		}
	}
	return kept
}

// Label names a side: its name, its job, or its program with arguments and then how it is
// started: "latency tpsl threads (-n 2 -rpp 2)".
func (s Side) Label() string {
	if s.Name != "" || s.Job != "" {
		return cmp.Or(s.Name, s.Job)
	}
	program, start := s.Argv, s.Env
	for i, arg := range slices.Backward(s.Argv) { // one that comes before is a launcher's
		if filepath.Dir(arg) == Built {
			name, _, _ := strings.Cut(filepath.Base(arg), "-")
			program = append([]string{name}, s.Argv[i+1:]...)
			start = append(start[:len(start):len(start)], s.Argv[min(i, 1):i]...)
			break
		}
	}
	text := strings.Join(program, " ")
	if len(start) > 0 {
		text += " (" + strings.Join(start, " ") + ")"
	}
	return text
}

// Run runs the side once and returns what it printed and how long it took.
func (s Side) Run(ctx context.Context, limit time.Duration) (output string, took time.Duration, err error) {
	ctx, cancel := testsupport.WithLimit(ctx, limit)
	defer cancel()
	begin := time.Now()
	run := s.In
	if run == nil {
		run = testsupport.OutputContext
	}
	stdout, stderr, code, err := run(ctx, s.Env, s.Argv...)
	took = time.Since(begin)
	if err != nil {
		return "", took, err
	}
	if code != 0 {
		return "", took, fmt.Errorf("%s: exit code %d\n%s%s", strings.Join(s.Argv, " "), code, stdout, stderr)
	}
	return stdout, took, nil
}

// jobLine returns the benchmark line of a job that printed what it should.
func (s Side) jobLine(printed string, took time.Duration) (string, error) {
	if printed != s.Want {
		return "", fmt.Errorf("%s: printed %q, expected %q", strings.Join(s.Argv, " "), printed, s.Want)
	}
	return fmt.Sprintf("Benchmark%s 1 %.3f ms/job\n", s.Job, took.Seconds()*1e3), nil
}
