// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"
)

// A Tool is a command that starts some ranks: the program and its arguments are added to it.
type Tool struct {
	Option  string // that asked for it
	Command []string
	Ranks   Ranks
}

// setTools reads COMMAND:RANKS[;COMMAND:RANKS]... of -gtool. Commands may hold colons, ranks do not.
func setTools(p *parser, v string) error {
	for part := range strings.SplitSeq(v, ";") {
		at := strings.LastIndex(part, ":")
		if at < 0 {
			return fmt.Errorf("%q is not COMMAND:RANKS", part)
		}
		command, err := splitWords(part[:at])
		if err != nil || len(command) == 0 {
			return fmt.Errorf("%q is not COMMAND:RANKS", part)
		}
		ranks, err := ParseRanks(strings.TrimSpace(part[at+1:]))
		if err != nil {
			return err
		}
		p.opts.Tools = append(p.opts.Tools, Tool{"gtool", command, ranks})
	}
	return nil
}

// setDebugger reads the ranks of -gdb.
func setDebugger(p *parser, v string) error {
	ranks, err := ParseRanks(v)
	p.opts.Tools = append(p.opts.Tools, Tool{"gdb", []string{"gdb", "-q", "--args"}, ranks})
	return err
}

// Debugged returns the ranks that run under gdb.
func Debugged(tools []Tool) Ranks {
	for _, tool := range tools {
		if tool.Option == "gdb" {
			return tool.Ranks
		}
	}
	return nil
}
