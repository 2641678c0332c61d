// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tpsl/tpsl/internal/mpilib"
)

func (r Report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Print writes a report for people: the modes of a program and the first of its variables, a table of the objects, then a
// few lines.
func (r Report) Print(w io.Writer, variables int) {
	fmt.Fprintf(w, "%s: %s\n", r.File, r.verdict())
	for _, m := range r.Modes {
		fmt.Fprintf(w, "  %-8s  %-4s %s\n", m.Name, yes(m.OK), m.Why)
	}
	if r.MPILibrary != "" {
		fmt.Fprintf(w, "  MPI: %s\n", r.mpi())
	}
	if len(r.Lacks) > 0 {
		fmt.Fprintf(w, "  The MPI library has no %s: a call ends the job; name a newer library in TPSL_MPI_LIBRARY.\n", strings.Join(r.Lacks, ", "))
	}
	if threaded(r.Modes) {
		fmt.Fprintln(w)
		r.printVariables(w, variables)
	}
	if len(r.Objects) > 0 {
		fmt.Fprintln(w)
		r.table(w)
	}
	if n := total(r.Instance.Relocations); n > 0 {
		i := r.Instance
		fmt.Fprintf(w, "\nAn instance has %s of its own and shares %s of text. It writes %d relocations: %s.\n",
			size(i.Data), size(i.Text), n, kinds(i.Relocations))
		if i.Static > 0 {
			fmt.Fprintf(w, "It needs %d of the %d bytes of each thread's static TLS block.\n", i.Static, i.StaticMax)
		}
		fmt.Fprintf(w, "Rebound: %s.\n", strings.Join(i.Rebound, " "))
	}
	if len(r.Refused) > 0 {
		fmt.Fprintln(w, "\nRefused")
	}
	for _, why := range r.Refused {
		fmt.Fprintln(w, " ", why)
	}
}

// mpi tells the MPI library and what it is.
func (r Report) mpi() string {
	what := []string{r.MPILibrary + " has the ABI of " + r.MPI.ABI}
	if r.MPI.ABI == string(mpilib.Standard) {
		what[0] = r.MPILibrary + " has the standard ABI"
	}
	if r.MPI.Implementation != "" {
		what = append(what, "is of "+strings.TrimRight(r.MPI.Implementation+" "+r.MPI.Version, " "))
	}
	if r.MPI.Protocol != "" {
		what = append(what, "speaks "+r.MPI.Protocol)
	}
	return strings.Join(what, ", ")
}

// verdict is the short answer.
func (r Report) verdict() string {
	switch {
	case r.OK && r.Kind == KindProgram:
		return "a program; its ranks can share a process"
	case r.Kind == KindProgram:
		return "a program; its ranks cannot share a process"
	case !r.OK:
		return "refused"
	case r.Kind == KindProgramLibrary:
		return "a library of the program that every rank has to itself; loadable"
	}
	return "a library; loadable"
}

func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

func (r Report) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PLACEMENT\tTEXT\tDATA\tRELOCS\tTLS\tINIT\tRULE\tFILE")
	for _, o := range r.Objects {
		columns := []string{o.Placement, size(o.Text), "-", "-", "-", "-"}
		if o.Placement != "shared" { // what is shared costs an instance nothing
			columns = []string{o.Placement, size(o.Text), size(o.Data), fmt.Sprint(total(o.Relocations)), o.TLS.String(), fmt.Sprint(o.Init)}
		}
		path := o.Path
		if len(o.Refused) > 0 {
			path += " (refused)"
		}
		fmt.Fprintln(t, strings.Join(append(columns, strings.TrimSpace(o.Where+" "+o.Rule), path), "\t"))
	}
	t.Flush()
}

func (t TLS) String() string {
	if t.Model == "" {
		return "-"
	}
	return fmt.Sprintf("%d %s", t.Bytes, t.Model)
}

// size prints bytes for people.
func size(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}

func total(kinds map[string]int) (n int) {
	for _, k := range kinds {
		n += k
	}
	return n
}

// kinds lists relocations by type, the most frequent first.
func kinds(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%d %s", of[n], n)
	}
	return strings.Join(names, ", ")
}
