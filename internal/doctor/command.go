// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tpsl/tpsl/internal/flags"
)

// Usage is the text of -h.
const Usage = `usage: tpsl doctor [-json] [FILE]...

Looks at this machine and installation, and says what would keep threads from
being MPI ranks: a verdict first, then what would fail and what to do, then all
that was looked at. Put its output into a bug report.

  FILE     an MPI library to judge, too: a file, or a name that ld.so finds
  -json    one JSON document
  -h       this text

The exit status is 0, or 1 if there are findings of severity error. 255: wrong
usage.
`

// exitUsage is the exit status of wrong usage, as mpiexec's.
const exitUsage = 255

// Output is where the command writes.
type Output struct {
	Stdout, Stderr io.Writer
	Colour         bool // of stdout, which is a terminal then
}

// Command runs "tpsl doctor" and returns its exit status. version is tpsl's.
func Command(version string, args []string, out Output) int {
	set := flags.New("doctor")
	asJSON := set.Bool("json", false, "")
	switch err := flags.Parse(set, args); {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(out.Stdout, Usage)
		return 0
	case err != nil:
		fmt.Fprintf(out.Stderr, "tpsl doctor: %v; try tpsl doctor -h\n", err)
		return exitUsage
	}
	report := NewReport(Look(version, set.Args()))
	if !*asJSON {
		report.Print(out.Stdout, out.Colour)
	} else if err := report.writeJSON(out.Stdout); err != nil {
		fmt.Fprintln(out.Stderr, "tpsl doctor:", err)
		return exitUsage
	}
	if !report.OK {
		return 1
	}
	return 0
}

func (r Report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
