// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"io"

	"github.com/tpsl/tpsl/internal/flags"
)

// Usage is the text of -h.
const Usage = `usage: tpsl check [-all] [-json] FILE

Says what the loader would do with a library or program and all that it needs:
where each file is placed, what an instance takes, and what is refused. Of a
program whose threads can be ranks it lists the global and static variables,
which its ranks would share.

  FILE     a file, a name that ld.so finds, or a program of Python in PATH
  -all     all of these variables, not the first 20 only
  -json    one JSON document, with all of them
  -h       this text

The exit status is 0, or 1 if something is refused. 255: wrong usage.
`

// exitUsage is the exit status of wrong usage, as mpiexec's.
const exitUsage = 255

// Command runs "tpsl check" and returns its exit status.
func Command(args []string, out, errOut io.Writer) int {
	set := flags.New("check")
	all, asJSON := set.Bool("all", false, ""), set.Bool("json", false, "")
	err := flags.Parse(set, args)
	if err == nil && set.NArg() != 1 {
		err = fmt.Errorf("want one FILE, have %d", set.NArg())
	}
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(out, Usage)
		return 0
	case err != nil:
		fmt.Fprintf(errOut, "tpsl check: %v; try tpsl check -h\n", err)
		return exitUsage
	}
	report := File(set.Arg(0))
	if !*asJSON {
		most := mostVariables
		if *all {
			most = len(report.Variables)
		}
		report.Print(out, most)
	} else if err := report.writeJSON(out); err != nil {
		fmt.Fprintln(errOut, "tpsl check:", err)
		return exitUsage
	}
	if !report.OK {
		return 1
	}
	return 0
}
