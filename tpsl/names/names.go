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
	"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPIR_fortran_false", "MPIR_fortran_true", "MPI_F08_STATUSES_IGNORE",
	"MPI_F08_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F_STATUS_IGNORE", "MPI_T_PVAR_ALL_HANDLES",
	"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY",
}

// Fronts are the functions of libc and ld.so that libtpsl stands in front of.
var Fronts = []string{"_dl_find_object", "dl_iterate_phdr", "pthread_create"}

// Private is the number of stubs behind those of the list, which have no names: for
// functions of the MPI library that the list lacks, and for those of the program's
// private libraries. The process tells their names.
const Private = 1024

// A Stub is one of libtpsl's: the names that lead to it.
type Stub struct {
	Since string   // the version of MPICH that brought the names
	Names []string // they share an address in each library that has one of them
}

// List returns the stubs in the order of the list.
func List() []Stub {
	stubs, err := parse(list)
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return stubs
}

// Stubs returns the names of each stub, in the order of the list.
func Stubs() [][]string {
	var stubs [][]string
	for _, s := range List() {
		stubs = append(stubs, s.Names)
	}
	return stubs
}

// parse reads a list: a stub per line, the version and then the names, # comments.
func parse(text string) ([]Stub, error) {
	var stubs []Stub
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) == 1 || !isVersion.MatchString(fields[0]) {
			return nil, fmt.Errorf("mpich.names: %q is not a version and names", line)
		}
		for _, n := range fields[1:] {
			if seen[n] {
				return nil, fmt.Errorf("mpich.names: name %s stands twice", n)
			}
			seen[n] = true
		}
		stubs = append(stubs, Stub{fields[0], fields[1:]})
	}
	return stubs, nil
}

var isVersion = regexp.MustCompile(`^\d+\.\d+$`)

// ForStandIns are what stand-ins take from libtpsl, for functions of an MPI library that the list has no names for
// (tpsl/unlisted.c).
var ForStandIns = []string{"tpsl_name_unlisted", "tpsl_unlisted_stubs"}

// belongs matches the functions that programs may call: those of the standard, their
// PMPI twins, MPICH's own MPIX and what QMPI tools use. Libraries export names of
// their inside, too, and some hold the Fortran bindings: mpi_send_, MPI_SEND.
var belongs = regexp.MustCompile(`^(P?MPIX?|QMPI)_\w*[a-z]`)

// MayCall reports whether a function that an MPI library exports is one for programs, by its name.
func MayCall(name string) bool { return belongs.MatchString(name) }

// Compare returns the names of the list that a library lacks, of those that its own
// version and older ones have, and the MPI functions that it has beyond the list, both
// sorted. exported are the names of its functions.
func Compare(exported []string) (missing, extra []string) {
	has := map[string]bool{}
	for _, n := range exported {
		has[n] = true
	}
	listed := map[string]bool{}
	later := laterThan(has)
	for _, s := range List() {
		for _, n := range s.Names {
			listed[n] = true
			if !has[n] && !later[s.Since] {
				missing = append(missing, n)
			}
		}
	}
	for n := range has {
		if !listed[n] && MayCall(n) {
			extra = append(extra, n)
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return missing, extra
}

// laterThan returns the versions of the list that a library does not reach: those of whose names it lacks more than half.
// The oldest one every library reaches.
func laterThan(has map[string]bool) map[string]bool {
	oldest, score := "", map[string]int{}
	for _, s := range List() {
		if oldest == "" || s.Since < oldest {
			oldest = s.Since
		}
		for _, n := range s.Names {
			if has[n] {
				score[s.Since]++
			} else {
				score[s.Since]--
			}
		}
	}
	later := map[string]bool{}
	for version, s := range score {
		later[version] = s < 0 && version != oldest
	}
	return later
}
