// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"strings"
)

// parseOptions reads options up to a word that is not an option. It returns that word and the rest.
func (p *parser) parseOptions(args []string) (rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && err == nil && p.opts.Action == ActionRun {
		args, err = p.parseOption(args)
	}
	return args, err
}

// parseOption reads the option at args[0] with its values and returns what follows.
func (p *parser) parseOption(args []string) ([]string, error) {
	name, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	if isHostsOfOpenMPI(args) {
		name = "hosts"
	}
	opt, _ := findOption(name)
	if opt == nil {
		following := args[1:]
		if joined {
			following = append([]string{value}, following...)
		}
		return nil, unknownOption(args[0], name, following)
	}
	args = args[1:]
	help := len(args) > 0 && isHelp(args[0])
	p.opts.allOptions = opt.names[0] == "h" && len(args) > 0 && strings.EqualFold(args[0], "all")
	switch {
	case p.where != "" && (help || opt.typed):
		return nil, fmt.Errorf("option -%s: %w", opt.names[0], errNotInFile)
	case help:
		p.opts.Action, p.opts.topic = ActionHelp, opt
		return nil, nil
	}
	switch {
	case opt.args == "" && joined:
		return nil, fmt.Errorf("option -%s takes no value", opt.names[0])
	case opt.isOptional() && joined && value == "":
		return nil, fmt.Errorf("option -%s: its value is empty", opt.names[0])
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
	return args, p.apply(opt, strings.Join(values, separator))
}

// count returns how many values the option takes if its values begin with these words.
func (o *option) count(values []string) int {
	switch {
	case o.args == "" || o.isOptional():
		return 0
	case o.isAssignment() && len(values) > 0 && !strings.Contains(values[0], "="):
		return 2
	}
	return max(o.values, 1)
}

// apply sets an option unless a source that wins has set it already.
func (p *parser) apply(opt *option, value string) error {
	now := setting{opt.names[0], value, p.origin, p.where}
	key := opt.key()
	if opt.isAssignment() {
		name, _, _ := strings.Cut(value, "=")
		if name == "" {
			return fmt.Errorf("option -%s: variable without a name", now.option)
		}
		key += " " + name
	}
	_, local := findOption(now.option)
	seen := p.global
	if local {
		seen = p.state.seen
	}
	if before, found := seen[key]; found {
		switch {
		case before.origin > now.origin: // and so wins
		case before.origin < now.origin, now.origin == environment: // of several variables the first in the table counts
			return nil
		case before.option == now.option && before.value == value && !opt.many:
			return nil
		case !opt.many && !p.ownHosts(opt):
			return fmt.Errorf("duplicate setting: %s and %s", before, now)
		}
	}
	if err := opt.set(p, value); err != nil {
		return fmt.Errorf("option -%s: %w", now.option, err)
	}
	seen[key] = now
	if local {
		p.state.given = append(p.state.given, now)
	}
	return nil
}

// ownHosts reports whether this is the only global option that a later segment may give for itself.
func (p *parser) ownHosts(opt *option) bool {
	return opt.names[0] == "hosts" && len(p.opts.Segments) > 1 && p.opts.Hosts.List != "" && p.segment.Hosts == ""
}

func isHelp(arg string) bool {
	opt, _ := findOption(strings.TrimLeft(arg, "-"))
	return strings.HasPrefix(arg, "-") && opt != nil && opt.names[0] == "h"
}

// errNotInFile is the error for options that only the command line may have.
var errNotInFile = errors.New("it has no place in a file")
