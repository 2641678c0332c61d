// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/tpsl/tpsl/internal/numbers"
	"github.com/tpsl/tpsl/internal/terminal"
)

// mostVariables is how many variables are printed unless all are asked for.
const mostVariables = 20

// sharing says what to do about variables that ranks share.
const sharing = `A variable that differs between ranks has to be thread-local: _Thread_local in
C, thread_local in C++, threadprivate in Fortran. Or link the program with mpicc
and run it by mpiexec -tpsl private, where each rank has all of them to itself.
`

// printVariables writes at most so many of the variables that ranks would share, what to do about them, and why there may
// be others.
func (r Report) printVariables(w io.Writer, most int) {
	shown := r.Variables[:min(most, len(r.Variables))]
	switch {
	case len(shown) > 0:
		r.variableTable(w, shown)
		fmt.Fprint(w, sharing)
	case len(r.Unseen) == 0:
		fmt.Fprintln(w, "The threads of a process share no variables of the program.")
	}
	if slices.ContainsFunc(shown, func(v Variable) bool { return v.Line == 0 }) {
		fmt.Fprintln(w, "Compile with -g to see the line of each variable.")
	}
	for _, why := range r.Unseen {
		fmt.Fprintln(w, terminal.Printable(why))
	}
}

// variableTable writes a line for each of the variables shown, and how many there are beside them.
func (r Report) variableTable(w io.Writer, shown []Variable) {
	noun := "variables"
	if len(r.Variables) == 1 {
		noun = "variable"
	}
	fmt.Fprintf(w, "The threads of a process share %s %s of the program:\n", numbers.Thousands(uint64(len(r.Variables))), noun)
	const title = "BYTES"
	width := len(title)
	for _, v := range shown {
		width = max(width, len(numbers.Thousands(v.Bytes)))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  %*s\tVARIABLE\tSOURCE\n", width, title)
	for _, v := range shown {
		fmt.Fprintf(table, "  %*s\t%s\t%s\n", width, numbers.Thousands(v.Bytes), terminal.Printable(v.Name), terminal.Printable(r.source(v)))
	}
	table.Flush()
	if more := len(r.Variables) - len(shown); more > 0 {
		fmt.Fprintf(w, "  ... and %s more; -all shows them\n", numbers.Thousands(uint64(more)))
	}
}

// source tells where a variable is: in which line, if that is known, and in which library, if it is in one. A file below
// the working directory is named from there.
func (r Report) source(v Variable) string {
	place := "-"
	if v.File != "" {
		place = fromHere(v.File)
	}
	if v.Line > 0 {
		place += fmt.Sprintf(":%d", v.Line)
	}
	if v.Object != r.File {
		place += " in " + filepath.Base(v.Object)
	}
	return place
}

// fromHere returns the path of a file from the working directory if that holds it, else the path as it is.
func fromHere(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	inside, err := filepath.Rel(here, file)
	if err != nil || !filepath.IsLocal(inside) {
		return file
	}
	return inside
}
