// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
)

func printProof(w io.Writer, p *pagetables.Proof) error {
	fmt.Fprintf(w, "process %d, page frames:\n", p.PID)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "INSTANCES\tTEXT\tAPART\tDATA\tSAME\t  OBJECT\n")
	text, data := 0, 0
	for _, o := range p.Objects {
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t  %s\n", o.Instances, o.Text, o.TextApart, o.Data, o.DataSame, terminal.Printable(o.Object))
		text, data = text+o.Text, data+o.Data
	}
	if err := table.Flush(); err != nil {
		return err
	}
	verdict := "holds: text is in the same frames in all instances, data in frames of its own"
	if !p.Holds() {
		verdict = "FAILS: see the columns APART and SAME"
	}
	_, err := fmt.Fprintf(w, "%d pages of text, %d of data: the proof %s\n", text, data, verdict)
	return err
}
