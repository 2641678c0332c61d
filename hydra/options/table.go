// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/internal/suggest"
)

// An option is one row of the tables of the command line. The parser and the help both use it.
type option struct {
	names   []string // the first one is used in messages
	args    string   // its values as help shows them; "" for a flag
	values  int      // how many values it takes, if this is not one
	subject string   // what it sets, if several options set the same thing; only one of these may be given
	many    bool     // it may be given again with another value
	typed   bool     // it may be given only on the command line, not in a file
	short   string   // one line of -h
	long    string   // the rest of -OPTION -h
	set     setter
}

// A setter stores an option's value in the request. Several values are one string with spaces between them.
type setter func(*parser, string) error

// An optionGroup is a part of the help.
type optionGroup struct {
	title   string
	local   bool // its options belong to their segment
	options []option
}

var (
	optionGroups   []optionGroup
	fillGroupsOnce sync.Once // the groups are filled at their first use, because proxies do not need options
)

// optionTable lists every option. The comparison of names ignores case and the number of dashes.
func optionTable() []optionGroup {
	fillGroupsOnce.Do(fillGroups)
	return optionGroups
}

func fillGroups() {
	optionGroups = []optionGroup{
		{title: "Local options, for the program that follows:", local: true, options: segmentOptions()},
		{title: "Hosts:", options: hostOptions()},
		{title: "Environment:", options: environmentOptions()},
		{title: "Input and output:", options: stdioOptions()},
		{title: "The end of a job:", options: exitOptions()},
		{title: "CPUs, memory, GPUs and NICs:", options: hardwareOptions()},
		{title: "How proxies start:", options: launchOptions()},
		{title: "How ranks find each other (PMI):", options: pmiOptions()},
		{title: "About mpiexec:", options: actionOptions()},
		{title: "Accepted and without effect:", options: ignoredOptions()},
	}
}

// allOptions goes through the options of all groups.
func allOptions() iter.Seq2[*optionGroup, *option] {
	return func(yield func(*optionGroup, *option) bool) {
		groups := optionTable()
		for g := range groups {
			for o := range groups[g].options {
				if !yield(&groups[g], &groups[g].options[o]) {
					return
				}
			}
		}
	}
}

// findOption returns the option of a name and whether it belongs to its segment.
func findOption(name string) (opt *option, local bool) {
	for group, opt := range allOptions() {
		for _, n := range opt.names {
			if strings.EqualFold(n, name) {
				return opt, group.local
			}
		}
	}
	return nil, false
}

// key names what the option sets.
func (o *option) key() string {
	if o.subject != "" {
		return o.subject
	}
	return o.names[0]
}

// isAssignment reports whether the option takes NAME VALUE as well as NAME=VALUE.
func (o *option) isAssignment() bool { return strings.HasPrefix(o.args, "NAME VALUE") }

// isOptional reports whether the option may stand alone, and takes a value only as -OPTION=VALUE.
func (o *option) isOptional() bool { return strings.HasPrefix(o.args, "[=") }

func unknownOption(arg, name string, values []string) error {
	if err := fromOpenMPI(arg, name, values); err != nil {
		return err
	}
	var names []string
	for _, opt := range allOptions() {
		names = append(names, opt.names...)
	}
	if near := suggest.Nearest(strings.ToLower(name), names); near != "" {
		return fmt.Errorf("unknown option %s; did you mean -%s?", arg, near)
	}
	return fmt.Errorf("unknown option %s; try mpiexec -h", arg)
}
