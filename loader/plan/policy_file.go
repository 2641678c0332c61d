// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	_ "embed"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed policy.default
var defaultPolicy string

// The sections of a policy file. A file begins in opened.
const (
	always  = "[always]" // in front of all rules, those of users too; only in policy.default
	opened  = "[opened]"
	program = "[program]"
	private = "[private]"
)

// DefaultPolicies returns the policies of a process whose user says nothing.
func DefaultPolicies() Policies {
	p, err := ReadPolicies("", "")
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return p
}

// ReadPolicies returns the default policies with those of a user in front: file is what
// TPSL_POLICY names, and named what TPSL_PRIVATE has, patterns of libraries of the
// program with commas between them, each maybe with "=function". Either may be empty.
// Errors are one line that names the variable.
func ReadPolicies(file, named string) (Policies, error) {
	ours, err := parsePolicy("policy.default", defaultPolicy, always, opened, program, private)
	if err != nil {
		return Policies{}, err
	}
	theirs := map[string]Policy{}
	if file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			theirs, err = parsePolicy(file, string(text), opened, program, private)
		}
		if err != nil {
			return Policies{}, fmt.Errorf("TPSL_POLICY: %w; tpsl(7) has the form of a policy", err)
		}
	}
	ofProgram, err := namedPrivate(named)
	if err != nil {
		return Policies{}, fmt.Errorf("TPSL_PRIVATE=%s: %w; give patterns of library names, with commas between them", named, err)
	}
	return Policies{
		Opened:  slices.Concat(ours[always], theirs[opened], ours[opened]),
		Program: slices.Concat(ours[always], ofProgram, theirs[program], ours[program]),
		Private: slices.Concat(ours[always], theirs[private], ours[private]),
	}, nil
}

// namedPrivate reads TPSL_PRIVATE.
func namedPrivate(text string) (p Policy, err error) {
	for word := range strings.SplitSeq(text, ",") {
		pattern, function, _ := strings.Cut(word, "=")
		if pattern == "" {
			continue
		}
		r, err := newRule([]string{pattern, Private.String(), function})
		if err != nil {
			return nil, err
		}
		r.Where = "TPSL_PRIVATE"
		p = append(p, r)
	}
	return p, nil
}

// parsePolicy reads a policy file into the rules of each section. A line is a section, or
// "pattern placement" and maybe the function that prepares a private library of the
// program; # begins a comment.
func parsePolicy(name, text string, sections ...string) (map[string]Policy, error) {
	rules, in := map[string]Policy{}, opened
	for i, line := range strings.Split(text, "\n") {
		where := fmt.Sprintf("%s:%d", name, i+1)
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			continue
		case len(f) == 1 && slices.Contains(sections, f[0]):
			in = f[0]
			continue
		case len(f) == 1 || len(f) > 3:
			return nil, fmt.Errorf("%s: want \"pattern placement [function]\" or one of %s, have %q",
				where, strings.Join(sections, ", "), strings.TrimSpace(line))
		case len(f) == 3 && (in != program || f[1] != Private.String()):
			return nil, fmt.Errorf("%s: only a private library under %s has a function to prepare it, have %q", where, program, f[2])
		}
		r, err := newRule(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		r.Where, r.Always = where, in == always
		rules[in] = append(rules[in], r)
	}
	return rules, nil
}

// newRule makes a rule of the words of its line.
func newRule(words []string) (Rule, error) {
	if _, err := path.Match(words[0], ""); err != nil {
		return Rule{}, fmt.Errorf("pattern %q: %w", words[0], err)
	}
	for _, p := range []Placement{Private, Once, Shared} {
		if p.String() == words[1] {
			return Rule{Pattern: words[0], Placement: p, Prepare: strings.Join(words[2:], "")}, nil
		}
	}
	return Rule{}, fmt.Errorf("placement %q is none of private, once, shared", words[1])
}
