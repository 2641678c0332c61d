// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"io"

	"github.com/tpsl/tpsl/pagetables"
)

// printPages prints a line for pages that follow one another and are alike.
func printPages(w io.Writer, proc pagetables.Proc, p *pagetables.Process) error {
	fmt.Fprintf(w, "%-29s %8s %-13s %-7s %s\n", "ADDRESSES", "KB", "STATE", "MAPPED", "OWNER")
	return proc.EachPages(p, func(run *pagetables.Pages) error {
		mapped := "more"
		if run.Exclusive {
			mapped = "once"
		}
		_, err := fmt.Fprintf(w, "%014x-%014x %8d %-13s %-7s %s %s %s\n",
			run.Start, run.End, (run.End-run.Start)>>10, run.State, mapped, run.Owner, run.Object, run.Segment)
		return err
	})
}
