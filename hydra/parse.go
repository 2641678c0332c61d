// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"strings"
)

// maxRanks bounds a job, so that a slip of the keyboard does not exhaust the machine's memory.
const maxRanks = 1 << 20

// A parser reads a command line, segment by segment.
type parser struct {
	opts    Options
	segment *Segment
	global  map[string]string // values of global options seen, by first name
	local   map[string]string // the same for the segment
}

// ParseOptions reads mpiexec's arguments, its own name excluded, and the environment's MPIEXEC_TIMEOUT.
func ParseOptions(args []string, getenv func(string) string) (Options, error) {
	p := &parser{global: map[string]string{}}
	for more := true; more; {
		var err error
		if args, more, err = p.parseSegment(args); err != nil {
			return Options{}, err
		}
		if p.opts.Action != ActionRun {
			return p.opts, nil
		}
	}
	if v := getenv("MPIEXEC_TIMEOUT"); v != "" && p.opts.Timeout == 0 {
		var err error
		if p.opts.Timeout, err = parseTimeout(v); err != nil {
			return Options{}, fmt.Errorf("MPIEXEC_TIMEOUT: %w", err)
		}
	}
	return p.opts, nil
}

// parseSegment reads options, then the program up to a lone colon. more tells whether another segment follows.
func (p *parser) parseSegment(args []string) (rest []string, more bool, err error) {
	p.opts.Segments = append(p.opts.Segments, Segment{PerProcess: 1, Mode: ModeAuto})
	p.segment = &p.opts.Segments[len(p.opts.Segments)-1]
	p.local = map[string]string{}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args, err = p.parseOption(args); err != nil || p.opts.Action != ActionRun {
			return nil, false, err
		}
	}
	end := len(args)
	for i, arg := range args {
		if arg == ":" {
			end, more = i, true
			break
		}
	}
	if end == 0 {
		return nil, false, errors.New("no program given; try mpiexec -h")
	}
	p.segment.Args = args[:end]
	if p.segment.Ranks == 0 {
		p.segment.Ranks = 1
	}
	return args[min(end+1, len(args)):], more, nil
}

// parseOption reads the option at args[0] with its values and returns what follows.
func (p *parser) parseOption(args []string) ([]string, error) {
	name, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	opt := findOption(name)
	if opt == nil {
		return nil, unknownOption(args[0], name)
	}
	args = args[1:]
	if len(args) > 0 && isHelp(args[0]) {
		p.opts.Action, p.opts.Topic = ActionHelp, opt
		return nil, nil
	}
	switch {
	case opt.args == "" && joined:
		return nil, fmt.Errorf("option -%s takes no value", opt.names[0])
	case opt.args != "" && !joined:
		if len(args) == 0 {
			return nil, fmt.Errorf("option -%s needs a value: %s", opt.names[0], opt.args)
		}
		value, args = args[0], args[1:]
	}
	if opt.isAssignment() && !strings.Contains(value, "=") {
		if len(args) == 0 {
			return nil, fmt.Errorf("option -%s needs a value: %s", opt.names[0], opt.args)
		}
		value, args = value+"="+args[0], args[1:]
	}
	return args, p.apply(opt, value)
}

func (p *parser) apply(opt *option, value string) error {
	name := opt.names[0]
	seen := p.global
	if opt.local {
		seen = p.local
	}
	if before, found := seen[name]; found && before != value && !opt.many {
		return fmt.Errorf("duplicate setting: -%s %s and -%s %s", name, before, name, value)
	}
	seen[name] = value
	if opt.isAssignment() && strings.HasPrefix(value, "=") {
		return fmt.Errorf("option -%s: variable without a name", name)
	}
	if err := opt.set(p, value); err != nil {
		return fmt.Errorf("option -%s: %w", name, err)
	}
	return nil
}

// isAssignment tells the options that take NAME VALUE as well as NAME=VALUE.
func (o *option) isAssignment() bool { return strings.HasPrefix(o.args, "NAME VALUE") }

func findOption(name string) *option {
	for i := range optionTable {
		for _, n := range optionTable[i].names {
			if strings.EqualFold(n, name) {
				return &optionTable[i]
			}
		}
	}
	return nil
}

func isHelp(arg string) bool {
	opt := findOption(strings.TrimLeft(arg, "-"))
	return strings.HasPrefix(arg, "-") && opt != nil && opt.names[0] == "h"
}

func unknownOption(arg, name string) error {
	if near := nearest(strings.ToLower(name)); near != "" {
		return fmt.Errorf("unknown option %s; did you mean -%s?", arg, near)
	}
	return fmt.Errorf("unknown option %s; try mpiexec -h", arg)
}

// nearest returns the option name at edit distance 1 or 2 from name, or "".
func nearest(name string) string {
	best, least := "", min(3, len(name))
	for _, opt := range optionTable {
		for _, candidate := range opt.names {
			if d := editDistance(name, candidate); d < least {
				best, least = candidate, d
			}
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements that turn a into b (Levenshtein, one row at a time).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
