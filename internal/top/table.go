// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/whereabouts"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/terminal"
)

// A table is what is shown of an answer of mpiexec, and how.
type table struct {
	job   whereabouts.Job
	rates map[key]rate

	by      grouping
	sort    string // title of a column
	reverse bool
	filter  string
}

func newTable(by grouping) table { return table{by: by, sort: "RANK"} }

// sortBy sorts by the column with a key of the keyboard, the other way round if it was so before. It reports whether there is such a column.
func (t *table) sortBy(pressed string) bool {
	i := slices.IndexFunc(columns, func(c column) bool { return c.key == pressed })
	if i < 0 {
		return false
	}
	t.reverse = t.sort == columns[i].title && !t.reverse
	t.sort = columns[i].title
	return true
}

// rows returns the rows that pass the filter, in order.
func (t *table) rows() []row {
	rows := slices.DeleteFunc(rowsOf(t.job, t.rates, t.by), func(r row) bool { return !matches(r, t.filter) })
	sorted := columns[slices.IndexFunc(columns, func(c column) bool { return c.title == t.sort })]
	slices.SortStableFunc(rows, func(a, b row) int {
		order := sorted.compare(a, b)
		if t.reverse {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.group, b.group), cmp.Compare(a.ranks[0], b.ranks[0]))
	})
	return rows
}

// matches reports whether a filter lets a row pass: numbers name ranks, as in 0-3,8, and anything else is a part of the host's name, of
// the ranks that are waited for or of the state, in whatever case.
func matches(r row, filter string) bool {
	numbers, wanted := true, false
	for part := range strings.SplitSeq(filter, ",") {
		first, last, ok := ranges.Parse(strings.TrimSpace(part))
		numbers = numbers && ok
		wanted = wanted || slices.ContainsFunc(r.ranks, func(rank int) bool { return first <= rank && rank <= last })
	}
	if numbers {
		return wanted
	}
	return strings.Contains(strings.ToLower(strings.Join([]string{r.host, r.waitsFor, r.state}, "\n")), strings.ToLower(filter))
}

// text returns all of it, for a file or a pipe.
func (t *table) text() string {
	rows := t.rows()
	shown, widths := layout(rows, 0)
	about := t.heading()
	lines := append(about[:], titleLine(shown, widths))
	for _, r := range rows {
		lines = append(lines, rowLine(shown, widths, r))
	}
	return strings.Join(lines, "\n") + "\n"
}

// heading returns two lines about the whole job.
func (t *table) heading() [2]string {
	all := rowsOf(t.job, t.rates, byRank)
	in, ended := 0, 0
	hosts, silent := []string{}, []string{}
	for _, r := range all {
		in, ended = in+r.inMPI, ended+r.ended
	}
	for _, h := range t.job.Hosts {
		hosts = append(hosts, h.Name)
		if h.Silent {
			silent = append(silent, terminal.Printable(h.Name))
		}
	}
	slices.Sort(hosts)
	first := fmt.Sprintf("%s (mpiexec %d): %s on %s, %v", terminal.Printable(t.job.Name), t.job.PID, count(t.job.Ranks, "rank"), count(len(slices.Compact(hosts)), "host"), t.job.Elapsed.Truncate(time.Second))
	second := fmt.Sprintf("%s in MPI", count(in, "rank"))
	if t.job.NotNoted {
		second = "MPI calls are not noted (mpiexec -state)"
	}
	if mpi := sum(all).mpi; mpi >= 0 {
		second += fmt.Sprintf(", %s %% of the time", percent(mpi))
	}
	if ended > 0 {
		second += fmt.Sprintf("; %d ended", ended)
	}
	if len(silent) > 0 {
		second += "; no answer from " + strings.Join(silent, ", ")
	}
	if t.job.LeftOut > 0 {
		second += fmt.Sprintf("; %s not shown", count(t.job.LeftOut, "rank"))
	}
	return [2]string{first, second}
}

// count writes how many there are of something.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
