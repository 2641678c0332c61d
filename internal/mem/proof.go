// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tpsl/tpsl/internal/numbers"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
)

func printProof(w io.Writer, p *pagetables.Proof) error {
	fmt.Fprintf(w, "process %d, pages by their frames:\n", p.PID)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "INSTANCES\tTEXT\tAPART\tDATA\tSAME\t  OBJECT\n")
	text, data := 0, 0
	for _, o := range p.Objects {
		for _, n := range []int{o.Instances, o.Text, o.TextApart, o.Data, o.DataSame} {
			fmt.Fprintf(table, "%s\t", numbers.Thousands(uint64(n)))
		}
		fmt.Fprintf(table, "  %s\n", terminal.Printable(o.Object))
		text, data = text+o.Text, data+o.Data
	}
	if err := table.Flush(); err != nil {
		return err
	}
	verdict := "holds: text is in the same frames in all instances, data in frames of its own"
	if !p.Holds() {
		verdict = "FAILS: see the columns APART and SAME"
	}
	_, err := fmt.Fprintf(w, "%s pages of text, %s of data: the proof %s\n", numbers.Thousands(uint64(text)), numbers.Thousands(uint64(data)), verdict)
	return err
}
