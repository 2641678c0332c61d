// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tpsl/tpsl/internal/numbers"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables/events"
)

// titles are the columns of figures, which are narrow so that all of them fit 80 columns.
var titles = map[events.Figure]string{
	events.Syscalls: "SYSCALLS", events.FutexWaits: "FUTEX", events.FutexTime: "%FUTEX", events.Voluntary: "VCSW",
	events.Involuntary: "IVCSW", events.Migrations: "MIGR", events.OffCPU: "%OFF-CPU", events.Faults: "FAULTS",
}

// narrow is the least width of a column for a number, in characters. A wider title makes room for more digits.
const narrow = 5

func isTime(figure events.Figure) bool { return figure == events.FutexTime || figure == events.OffCPU }

// row is what was counted of a rank, or of a thread of it.
type row struct {
	owner
	Thread  int           `json:"thread,omitempty"` // 0: all of them
	Threads int           `json:"threads"`          // of a rank: those that live
	Counts  events.Counts `json:"counts"`
}

// faults are page faults of a rank in an object.
type faults struct {
	owner
	Object string `json:"object"`
	events.FaultKinds
}

// ranksOf are the counts since before, a row a rank.
func ranksOf(owners []owner, now, before *events.Snapshot) (rows []row) {
	threads := map[int]int{}
	for thread := range now.Threads {
		threads[thread.Owner]++
	}
	for i, c := range now.Owners {
		rows = append(rows, row{owners[i], 0, threads[i], c.Since(before.Owners[i])})
	}
	slices.SortFunc(rows, func(a, b row) int { return compare(a.owner, b.owner) })
	return rows
}

// threadsOf are the counts since before, a row a thread.
func threadsOf(owners []owner, now, before map[events.Thread]events.Counts) (rows []row) {
	for thread, c := range now {
		rows = append(rows, row{owners[thread.Owner], thread.ID, 1, c.Since(before[thread])})
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

// printRows writes a line for each row. Counts are totals or, live, per second. Times are shares of the time that has
// passed, for all threads of the row together.
func printRows(w io.Writer, rows []row, absent []events.Figure, took time.Duration, live bool) {
	figures := slices.DeleteFunc(slices.Clone(events.Figures), func(f events.Figure) bool { return slices.Contains(absent, f) })
	header := []string{"RANK", "PID", "THREADS"}
	if len(rows) > 0 && rows[0].Thread != 0 {
		header[2] = "THREAD"
	}
	for _, figure := range figures {
		header = append(header, titles[figure])
	}
	if live {
		fmt.Fprintln(w, "per second:")
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

// cell writes a figure that is no wider than its column.
func cell(n uint64, figure events.Figure, took time.Duration, live bool) string {
	width := max(narrow, len(titles[figure]))
	if isTime(figure) {
		percent := 100 * float64(n) / float64(took)
		if percent < 999.95 {
			return fmt.Sprintf("%.1f", percent)
		}
		return numbers.Short(uint64(math.Round(percent)), width)
	}
	if live {
		n = uint64(math.Round(float64(n) / took.Seconds()))
	}
	return numbers.Short(n, width)
}

// printFaults writes a line for each rank and object.
func printFaults(w io.Writer, rows []faults) {
	header := []string{"RANK", "PID", "FAULTS", "READS", "WRITES", "COPIES", "FETCHES"}
	table := newTable(w, header, "OBJECT")
	for _, r := range rows {
		cells := []string{r.name(), strconv.Itoa(r.PID)}
		for i, n := range []uint64{r.Sum(), r.Reads, r.Writes, r.Copies, r.Fetches} {
			cells = append(cells, numbers.Short(n, max(narrow, len(header[i+2]))))
		}
		table.add(cells, terminal.Printable(path.Base(r.Object)))
	}
	table.Flush()
}

// table aligns cells to the right, with one space between them. What may follow them in a line is not aligned.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, header []string, last ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)}
	t.add(header, last...)
	return t
}

func (t table) add(cells []string, last ...string) {
	line := strings.Join(cells, "\t") + "\t"
	for _, text := range last {
		line += " " + text
	}
	fmt.Fprintln(t, line)
}
