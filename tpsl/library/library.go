// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// ABI says what a file is to a program that was compiled with MPICH's mpi.h.
type ABI string

// The kinds of files.
const (
	MPICH   ABI = "MPICH"
	OpenMPI ABI = "Open MPI" // other handles and constants
	NotMPI  ABI = "not MPI"
	StandIn ABI = "stand-in" // libtpsl by the name of an MPI library, for programs linked with one
)

// ABIOf tells the kind of a library from its symbols.
func ABIOf(m *image.Image) ABI {
	if _, ok := m.Lookup("ompi_mpi_init", ""); ok {
		return OpenMPI
	}
	if _, ok := m.Lookup("PMPI_Init", ""); ok {
		return MPICH
	}
	if m.Auxiliary == soname.Libtpsl {
		return StandIn
	}
	return NotMPI
}

// Finder returns a function that tells the file which a name leads to, as ld.so would
// find it for the program, stand-ins aside. program may be nil.
func Finder(libraries *search.Path, program *image.Image) func(name string) (string, error) {
	libraries = libraries.PassingOver(func(m *image.Image) bool { return ABIOf(m) == StandIn })
	return func(name string) (string, error) { return libraries.Find(name, program) }
}

// Find returns the file of the MPI library: the one asked for in TPSL_MPI_LIBRARY, else
// the first of soname.MPI that there is, and of these one that the program needs. find is a
// Finder.
func Find(asked string, needed []string, find func(name string) (string, error)) (string, error) {
	if asked != "" {
		path, err := find(asked)
		if err != nil {
			return "", fmt.Errorf("TPSL_MPI_LIBRARY=%s: %w; name a library with the MPICH ABI there", asked, err)
		}
		return path, check(path)
	}
	var first error
	for _, name := range inOrder(needed) {
		path, err := find(name)
		if err == nil {
			return path, check(path)
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("no MPI library: %w; install MPICH, or name one in TPSL_MPI_LIBRARY", first)
}

// inOrder returns soname.MPI, those first that are needed. A program linked by tpslcc
// needs the stand-ins of all.
func inOrder(needed []string) []string {
	order := slices.Clone(soname.MPI)
	slices.SortStableFunc(order, func(a, b string) int {
		switch {
		case slices.Contains(needed, a) == slices.Contains(needed, b):
			return 0
		case slices.Contains(needed, a):
			return -1
		}
		return 1
	})
	return order
}

// check refuses a library that programs cannot use.
func check(path string) error {
	m, err := image.Open(path)
	if err != nil {
		return fmt.Errorf("%w; name a library with the MPICH ABI in TPSL_MPI_LIBRARY", err)
	}
	defer m.Close()
	switch ABIOf(m) {
	case OpenMPI:
		return fmt.Errorf("%s is Open MPI: its ABI is not MPICH's; name a library with the MPICH ABI in TPSL_MPI_LIBRARY", path)
	case StandIn:
		return fmt.Errorf("%s is a stand-in that leads back to libtpsl: name a library with the MPICH ABI in TPSL_MPI_LIBRARY", path)
	case NotMPI:
		return fmt.Errorf("%s is not an MPI library, it has no PMPI_Init: name one with the MPICH ABI in TPSL_MPI_LIBRARY", path)
	}
	return nil
}

// versions are the strings, data of the libraries, that hold their version.
var versions = map[ABI]string{MPICH: "MPII_Version_string", OpenMPI: "ompi_version_string"}

// Version returns what a library calls its version, "" when it does not say.
func Version(m *image.Image) string {
	s, ok := m.Lookup(versions[ABIOf(m)], "")
	if !ok || s.Type != elf.STT_OBJECT {
		return ""
	}
	text, err := m.Bytes(s.Value, s.Size)
	if err != nil {
		return ""
	}
	version, _, _ := bytes.Cut(text, []byte{0})
	return string(version)
}
