// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An origin is where a setting comes from. A lower one ranks above the others.
type origin int

const (
	commandLine origin = iota
	environment
)

// A setting is an option as it was given.
type setting struct {
	option, value string
	origin        origin
}

func (s setting) String() string { return strings.TrimSpace("-" + s.option + " " + s.value) }

// A parser reads a command line, segment by segment.
type parser struct {
	opts    Options
	segment *Segment
	origin  origin
	inherit []string           // of segments that do not say it themselves
	soft    softList           // of the segment
	global  map[string]setting // global options seen, by what they set
	local   map[string]setting // the same for the segment
}

// ParseOptions reads mpiexec's arguments, its own name excluded, and then what the environment says about the rest.
func ParseOptions(args []string, getenv func(string) string) (Options, error) {
	p := &parser{global: map[string]setting{}}
	p.opts.Hosts.PropagateName, p.opts.Launch.AutoFork = true, true
	p.opts.PMI.Mode = "auto"
	own := []bool{}
	for more := true; more; {
		var err error
		if args, more, err = p.parseSegment(args); err != nil {
			return Options{}, err
		}
		if p.opts.Action != ActionRun {
			return p.opts, nil
		}
		_, inherits := p.local["envall"]
		own = append(own, inherits)
	}
	if err := p.readVariables(getenv); err != nil {
		return Options{}, err
	}
	for i := range p.opts.Segments {
		if !own[i] {
			p.opts.Segments[i].Inherit = p.inherit
		}
	}
	return p.opts, p.finish()
}

// finish sets what follows from several options together.
func (p *parser) finish() error {
	if p.opts.Hosts.Iface != "" {
		if s := p.global["hostname-propagation"]; s.option != "" && p.opts.Hosts.PropagateName {
			return fmt.Errorf("-iface %s and %s exclude each other", p.opts.Hosts.Iface, s)
		}
		p.opts.Hosts.PropagateName = false
	}
	byObject := func(s Segment) bool { return s.PerObject != "" && s.PerObject != "node" }
	if p.opts.Placement.Bind.Object == "" && slices.ContainsFunc(p.opts.Segments, byObject) {
		p.opts.Placement.Bind = Binding{Object: "core", Count: 1}
	}
	return nil
}

// parseSegment reads options, then the program up to a lone colon. more tells whether another segment follows.
func (p *parser) parseSegment(args []string) (rest []string, more bool, err error) {
	p.opts.Segments = append(p.opts.Segments, Segment{PerProcess: 1, Mode: ModeAuto})
	p.segment = &p.opts.Segments[len(p.opts.Segments)-1]
	p.local, p.soft = map[string]setting{}, nil
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args, err = p.parseOption(args); err != nil {
			return nil, false, err
		}
		if p.opts.Action == ActionHelp || p.opts.Action == ActionVersion {
			return nil, false, nil
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
	if p.soft != nil {
		if p.segment.Ranks, err = p.soft.most(p.segment.Ranks); err != nil {
			return nil, false, err
		}
	}
	return args[min(end+1, len(args)):], more, nil
}

// parseOption reads the option at args[0] with its values and returns what follows.
func (p *parser) parseOption(args []string) ([]string, error) {
	name, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	opt, _ := findOption(name)
	if opt == nil {
		return nil, unknownOption(args[0], name)
	}
	args = args[1:]
	if len(args) > 0 && isHelp(args[0]) {
		p.opts.Action, p.opts.Topic = ActionHelp, opt
		return nil, nil
	}
	if opt.args == "" && joined {
		return nil, fmt.Errorf("option -%s takes no value", opt.names[0])
	}
	var values []string
	if joined {
		values = []string{value}
	}
	for len(values) < opt.count(values) {
		if len(args) == 0 {
			return nil, fmt.Errorf("option -%s needs a value: %s", opt.names[0], opt.args)
		}
		values, args = append(values, args[0]), args[1:]
	}
	separator := " "
	if opt.isAssignment() {
		separator = "="
	}
	if err := p.apply(opt, strings.Join(values, separator)); err != nil {
		return nil, err
	}
	return args, nil
}

// count is how many values an option takes that begin with these.
func (o *option) count(values []string) int {
	switch {
	case o.args == "":
		return 0
	case o.isAssignment() && len(values) > 0 && !strings.Contains(values[0], "="):
		return 2
	}
	return max(o.values, 1)
}

// apply sets an option unless what ranks above the current origin has done so.
func (p *parser) apply(opt *option, value string) error {
	now := setting{option: opt.names[0], value: value, origin: p.origin}
	key, many := opt.key(), opt.many
	if opt.isAssignment() {
		name, _, _ := strings.Cut(value, "=")
		if name == "" {
			return fmt.Errorf("option -%s: variable without a name", now.option)
		}
		key += " " + name
	}
	seen := p.global
	if _, local := findOption(now.option); local {
		seen = p.local
	}
	if before, found := seen[key]; found {
		switch {
		case before.origin < now.origin, now.origin == environment: // of several variables the first in the table counts
			return nil
		case before == now && !many:
			return nil
		case !many && !p.ownHosts(opt):
			return fmt.Errorf("duplicate setting: %s and %s", before, now)
		}
	}
	seen[key] = now
	if err := opt.set(p, value); err != nil {
		return fmt.Errorf("option -%s: %w", now.option, err)
	}
	return nil
}

// ownHosts tells the one global option that a later segment may give for itself.
func (p *parser) ownHosts(opt *option) bool {
	return opt.names[0] == "hosts" && len(p.opts.Segments) > 1 && p.opts.Hosts.List != "" && p.segment.Hosts == ""
}

func isHelp(arg string) bool {
	opt, _ := findOption(strings.TrimLeft(arg, "-"))
	return strings.HasPrefix(arg, "-") && opt != nil && opt.names[0] == "h"
}
