// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/internal/shellwords"
)

// A Tool is a command that starts some ranks: the program and its arguments are added to it.
type Tool struct {
	Option  string // the option that asked for it
	Command []string
	Ranks   Ranks
}

// debugger is the option of the tool that is a debugger: it reads the terminal.
const debugger = "gdb"

// ParseTools reads COMMAND:RANKS[;COMMAND:RANKS]..., the value of option. Commands may contain colons, but ranks do not.
func ParseTools(option, value string) (tools []Tool, err error) {
	for part := range strings.SplitSeq(value, ";") {
		at := strings.LastIndex(part, ":")
		if at < 0 {
			return tools, fmt.Errorf("%q is not COMMAND:RANKS", part)
		}
		command, err := shellwords.Split(part[:at])
		if err != nil || len(command) == 0 {
			return tools, fmt.Errorf("%q is not COMMAND:RANKS", part)
		}
		ranks, err := ParseRanks(strings.TrimSpace(part[at+1:]))
		if err != nil {
			return tools, err
		}
		tools = append(tools, Tool{option, command, ranks})
	}
	return tools, nil
}

// ParseDebugger reads the ranks that are to run under gdb.
func ParseDebugger(value string) (Tool, error) {
	ranks, err := ParseRanks(value)
	return Tool{debugger, []string{"gdb", "-q", "--args"}, ranks}, err
}

// Debugged returns the ranks that run under gdb.
func Debugged(tools []Tool) Ranks {
	for _, tool := range tools {
		if tool.Option == debugger {
			return tool.Ranks
		}
	}
	return nil
}
