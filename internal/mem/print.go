// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tpsl/tpsl/internal/numbers"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
)

func printReport(w io.Writer, proc pagetables.Proc, r request, report *Report) error {
	for _, process := range report.Processes {
		if err := printProcess(w, proc, r.by, process); err != nil {
			return err
		}
	}
	for _, process := range report.Flat {
		if err := printProcess(w, proc, r.by, process); err != nil {
			return err
		}
	}
	if c := report.PerRank; c != nil {
		fmt.Fprintf(w, "%s, private memory and page tables of each: %s kB\n", count(c.Ranks, "rank"), kilobytes(c.Bytes))
		if c.Flat > 0 {
			fmt.Fprintf(w, "as a process: %s kB; ratio %.2f\n", kilobytes(c.Flat), c.Ratio)
		}
	}
	for _, proof := range report.Proofs {
		if err := printProof(w, proof); err != nil {
			return err
		}
	}
	return nil
}

func printProcess(w io.Writer, proc pagetables.Proc, by string, p *pagetables.Process) error {
	fmt.Fprintf(w, "%s, process %d: %s, page tables %s kB\n", terminal.Printable(p.Command), p.PID, count(len(p.Ranks), "rank"), kilobytes(p.Tables))
	if by == "page" {
		return printPages(w, proc, p)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "PRIVATE\tSHARED\tTABLES\tTOTAL\tCOPIED\tSWAPPED\tHUGE\tMAPPED\t  %s\n", strings.ToUpper(by))
	fmt.Fprintln(table, strings.Repeat("kB\t", 8))
	for _, line := range merge(p, by) {
		printLine(table, line, terminal.Printable(strings.TrimSpace(strings.Join([]string{line.Owner.String(), line.Object, line.Segment}, " "))))
	}
	printLine(table, &pagetables.Row{Figures: p.Total}, "sum")
	fmt.Fprintln(table)
	return table.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return numbers.Thousands(uint64(n)) + " " + what + "s"
}

// printLine prints figures in kB: what is private, what is shared, what maps them; their
// sum, and more of each.
func printLine(w io.Writer, r *pagetables.Row, what string) {
	private := r.Anonymous + r.Swapped
	shared := r.Resident - r.Anonymous
	for _, bytes := range []uint64{private, shared, r.Tables, private + shared + r.Tables, r.Copied, r.Swapped, r.Huge, r.Mapped} {
		fmt.Fprintf(w, "%s\t", kilobytes(bytes))
	}
	fmt.Fprintf(w, "  %s\n", what)
}

// kilobytes writes an amount of memory in kB of 1,024 bytes, which is the unit of /proc.
func kilobytes(bytes uint64) string { return numbers.Thousands(bytes >> 10) }

// merge sums rows as far as they are not told apart.
func merge(p *pagetables.Process, by string) (lines []*pagetables.Row) {
	type key struct {
		owner           pagetables.Owner
		object, segment string
	}
	known := map[key]*pagetables.Row{}
	for _, r := range p.Rows {
		k := key{r.Owner, r.Object, r.Segment}
		if by == "rank" {
			k.object = ""
		}
		if by != "segment" {
			k.segment = ""
		}
		if known[k] == nil {
			known[k] = &pagetables.Row{Owner: k.owner, Object: k.object, Segment: k.segment}
			lines = append(lines, known[k])
		}
		known[k].Add(&r.Figures)
	}
	return lines
}
