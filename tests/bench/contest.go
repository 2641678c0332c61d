// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

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

// A contest is a set of sides whose runs take turns.
type contest struct {
	limit time.Duration // for one run
	sides []side
}

// results are the values of each benchmark, in the order of the runs. A run
// that gave no value leaves a gap, so that values of one turn stay together.
type results map[string]map[int]measure

type measure struct {
	value float64
	unit  string
}

// maxHangs is how often a side that hangs is waited for.
const maxHangs = 3

// run does each side's runs in turns, writes the benchmark lines, and adds
// their values to found.
func (c contest) run(w io.Writer, runs int, found results) error {
	hung := make([]int, len(c.sides))
	for turn := range runs {
		for i, s := range c.sides {
			if hung[i] == maxHangs {
				continue
			}
			lines, err := s.run(c.limit)
			if s.hangs && errors.Is(err, testsupport.ErrTimeout) {
				hung[i]++
				fmt.Fprintf(w, "# %v\n", err)
				continue
			}
			if err != nil {
				return err
			}
			fmt.Fprint(w, lines)
			if err := found.add(turn, lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs the side once and returns its benchmark lines.
func (s side) run(limit time.Duration) (string, error) {
	begin := time.Now()
	stdout, stderr, code, err := testsupport.Output(limit, s.env, s.argv...)
	took := time.Since(begin)
	if err != nil {
		return "", err
	}
	command := strings.Join(s.argv, " ")
	if code != 0 {
		return "", fmt.Errorf("%s: exit code %d\n%s%s", command, code, stdout, stderr)
	}
	if s.job == "" {
		return stdout, nil
	}
	if stdout != s.want {
		return "", fmt.Errorf("%s: printed %q, expected %q", command, stdout, s.want)
	}
	return fmt.Sprintf("Benchmark%s 1 %.3f ms/job\n", s.job, took.Seconds()*1e3), nil
}

// add takes the values of one turn from benchmark lines; others are an error.
func (r results) add(turn int, lines string) error {
	reader := benchfmt.NewReader(strings.NewReader(lines), "output")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return rec
		case *benchfmt.Result:
			name := string(rec.Name)
			if r[name] == nil {
				r[name] = map[int]measure{}
			}
			v := rec.Values[0]
			r[name][turn] = measure{v.Value, v.Unit}
			if v.OrigUnit != "" { // the reader turns ns into sec
				r[name][turn] = measure{v.OrigValue, v.OrigUnit}
			}
		}
	}
	return reader.Err()
}
