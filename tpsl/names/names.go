// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed mpich.names
var list string

// Data are the variables of libmpich that programs can see. They have one address
// in the program and all instances (tpsl/data_symbols.c).
var Data = []string{
	"MPIR_C_MPI_UNWEIGHTED", "MPIR_C_MPI_WEIGHTS_EMPTY", "MPIR_F08_MPI_BOTTOM", "MPIR_F08_MPI_IN_PLACE",
	"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPI_F08_STATUSES_IGNORE",
	"MPI_F08_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F_STATUS_IGNORE", "MPI_T_PVAR_ALL_HANDLES",
	"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY",
}

// Fronts are the functions of libc and ld.so that libtpsl stands in front of.
var Fronts = []string{"_dl_find_object", "dl_iterate_phdr", "pthread_create"}

// Private is the number of stubs behind those of the list: for functions of the
// program's private libraries, whose names the process tells.
const Private = 1024

// Stubs returns the names of each stub, in the order of the list.
func Stubs() [][]string {
	stubs, err := parse(list)
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return stubs
}

// parse reads a list: the names of a stub per line, # comments.
func parse(text string) ([][]string, error) {
	var stubs [][]string
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for _, n := range fields {
			if seen[n] {
				return nil, fmt.Errorf("mpich.names: name %s stands twice", n)
			}
			seen[n] = true
		}
		if len(fields) > 0 {
			stubs = append(stubs, fields)
		}
	}
	return stubs, nil
}

// belongs matches the functions that programs may call: those of the standard, their
// PMPI twins, MPICH's own MPIX and what QMPI tools use. Libraries export names of
// their inside, too, and some hold the Fortran bindings: mpi_send_, MPI_SEND.
var belongs = regexp.MustCompile(`^(P?MPIX?|QMPI)_\w*[a-z]`)

// Compare returns the names of the list that a library lacks, and the MPI functions
// that it has beyond the list, both sorted. exported are the names of its functions.
func Compare(exported []string) (missing, extra []string) {
	has := map[string]bool{}
	for _, n := range exported {
		has[n] = true
	}
	listed := map[string]bool{}
	for _, n := range slices.Concat(Stubs()...) {
		listed[n] = true
		if !has[n] {
			missing = append(missing, n)
		}
	}
	for n := range has {
		if !listed[n] && belongs.MatchString(n) {
			extra = append(extra, n)
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return missing, extra
}
