// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"io"
	"strconv"

	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
)

// printPages prints a line for pages that follow one another and are alike.
func printPages(w io.Writer, proc pagetables.Proc, p *pagetables.Process) error {
	fmt.Fprintf(w, "%-29s %11s %-15s %6s %s\n", "ADDRESSES", "kB", "STATE", "MAPPED", "OWNER")
	return proc.EachPages(p, func(run *pagetables.Pages) error {
		_, err := fmt.Fprintf(w, "%014x-%014x %11s %-15s %6s %s %s %s\n",
			run.Start, run.End, kilobytes(run.End-run.Start), stateOf(run), times(run), run.Owner, terminal.Printable(run.Object), run.Segment)
		return err
	})
}

func stateOf(run *pagetables.Pages) string {
	switch {
	case run.Huge:
		return "huge " + run.State
	case run.Merged:
		return "merged " + run.State
	default:
		return run.State
	}
}

// times tells how often pages are mapped; who may not know the number knows whether it is 1.
func times(run *pagetables.Pages) string {
	switch {
	case run.Times > 0:
		return strconv.FormatUint(run.Times, 10)
	case run.Exclusive:
		return "once"
	case run.State == "swapped":
		return "-"
	default:
		return "more"
	}
}
