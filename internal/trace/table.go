// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables/events"
)

// titles are the columns of figures.
var titles = map[events.Figure]string{
	events.Syscalls: "SYSCALLS", events.FutexWaits: "FUTEX-WAITS", events.FutexTime: "IN-FUTEX", events.Voluntary: "VOLUNTARY",
	events.Involuntary: "INVOLUNTARY", events.Migrations: "MIGRATIONS", events.OffCPU: "OFF-CPU", events.Faults: "FAULTS",
}

func isTime(figure events.Figure) bool { return figure == events.FutexTime || figure == events.OffCPU }

// row is what was counted of a rank, or of a thread of it.
type row struct {
	owner
	Thread  int           `json:"thread,omitempty"` // 0: all of them
	Threads int           `json:"threads"`          // that live
	Counts  events.Counts `json:"counts"`
}

// faults are page faults of a rank in an object.
type faults struct {
	owner
	Object string `json:"object"`
	events.FaultKinds
}

// rowsOf are the counts since before, a row a rank or a thread.
func rowsOf(owners []owner, now, before *events.Snapshot, byThread bool) (rows []row) {
	threads := map[int]int{}
	for thread, c := range now.Threads {
		threads[thread.Owner]++
		if byThread {
			rows = append(rows, row{owners[thread.Owner], thread.ID, 1, c.Since(before.Threads[thread])})
		}
	}
	for i, c := range now.Owners {
		if !byThread {
			rows = append(rows, row{owners[i], 0, threads[i], c.Since(before.Owners[i])})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(compare(a.owner, b.owner), cmp.Compare(a.Thread, b.Thread)) })
	return rows
}

// faultsOf are all page faults, of a rank the object with most first.
func faultsOf(owners []owner, now *events.Snapshot) (rows []faults) {
	for i, objects := range now.Faults {
		for object, kinds := range objects {
			rows = append(rows, faults{owners[i], object, kinds})
		}
	}
	slices.SortFunc(rows, func(a, b faults) int {
		return cmp.Or(compare(a.owner, b.owner), cmp.Compare(b.Sum(), a.Sum()), cmp.Compare(a.Object, b.Object))
	})
	return rows
}

// printRows writes a line a row. Counts are totals or, live, per second; times are shares of the time that has
// passed, of all threads of the row together.
func printRows(w io.Writer, rows []row, absent []events.Figure, took time.Duration, live bool) {
	figures := slices.DeleteFunc(slices.Clone(events.Figures), func(f events.Figure) bool { return slices.Contains(absent, f) })
	header := []string{"RANK", "PID", "THREADS"}
	if len(rows) > 0 && rows[0].Thread != 0 {
		header[2] = "THREAD"
	}
	for _, figure := range figures {
		title := titles[figure]
		if live && !isTime(figure) {
			title += "/s"
		}
		header = append(header, title)
	}
	table := newTable(w, header)
	for _, r := range rows {
		cells := []string{r.name(), strconv.Itoa(r.PID), strconv.Itoa(cmp.Or(r.Thread, r.Threads))}
		for _, figure := range figures {
			cells = append(cells, cell(r.Counts[figure], figure, took, live))
		}
		table.add(cells)
	}
	table.Flush()
}

func cell(n uint64, figure events.Figure, took time.Duration, live bool) string {
	switch {
	case isTime(figure):
		return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(took))
	case live:
		return fmt.Sprintf("%.0f", float64(n)/took.Seconds())
	default:
		return strconv.FormatUint(n, 10)
	}
}

// printFaults writes a line a rank and object.
func printFaults(w io.Writer, rows []faults) {
	table := newTable(w, []string{"RANK", "PID", "FAULTS", "READS", "WRITES", "COPIES", "FETCHES", "OBJECT"})
	for _, r := range rows {
		cells := []string{r.name(), strconv.Itoa(r.PID)}
		for _, n := range []uint64{r.Sum(), r.Reads, r.Writes, r.Copies, r.Fetches} {
			cells = append(cells, strconv.FormatUint(n, 10))
		}
		table.add(append(cells, terminal.Printable(path.Base(r.Object))))
	}
	table.Flush()
}

// table aligns cells to the right.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, header []string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.add(header)
	return t
}

func (t table) add(cells []string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
