// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/elf"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
)

// A release is one library of those that a list is the union of.
type release struct {
	version   string
	addresses map[string]uint64 // of its functions
}

// read opens a library that is given as VERSION=FILE.
func read(argument string) (release, error) {
	version, path, ok := strings.Cut(argument, "=")
	if !ok {
		return release{}, fmt.Errorf("%s: want VERSION=FILE", argument)
	}
	m, err := image.Open(path)
	if err != nil {
		return release{}, err
	}
	defer m.Close()
	r := release{version, map[string]uint64{}}
	for s := range m.Exports() {
		if s.Type == elf.STT_FUNC && s.Defined() && ofMPI.MatchString(s.Name) {
			r.addresses[s.Name] = s.Value
		}
	}
	return r, nil
}

// ofMPI matches what programs and the bindings for other languages refer to. Some builds export all of their inside, too.
var ofMPI = regexp.MustCompile(`^(P?MPIX?|QMPI|MPIR|MPII)_\w*[a-z]`)

// writeList prints the union of libraries, in the order of their versions. Names are on one line if each library either
// has them all at one address, or has none of them. MPI_ names are first in a line, lines are in the order of their names.
func writeList(w io.Writer, arguments []string) error {
	places := map[string]string{} // of a name: its address in each library
	since := map[string]string{}
	for i, a := range arguments {
		r, err := read(a)
		if err != nil {
			return err
		}
		for name, address := range r.addresses {
			places[name] += fmt.Sprintf(" %d:%x", i, address)
			if since[name] == "" {
				since[name] = r.version
			}
		}
	}
	together := map[string][]string{}
	for name, at := range places {
		together[at] = append(together[at], name)
	}
	var lines [][]string
	for _, names := range together {
		lines = append(lines, slices.Sorted(slices.Values(names)))
	}
	slices.SortFunc(lines, slices.Compare)
	fmt.Fprintf(w, "# %s\n# SPDX-License-Identifier: Apache-2.0\n", header)
	fmt.Fprintf(w, "# Functions of MPI libraries by the version that brought them, those at one address on one line. Made by stubgen -list.\n")
	for _, names := range lines {
		fmt.Fprintln(w, since[names[0]], strings.Join(names, " "))
	}
	return nil
}
