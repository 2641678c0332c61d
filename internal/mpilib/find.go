// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mpilib

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// Finder returns a function that tells the file which a name leads to, as ld.so would
// find it for the program, stand-ins aside. program may be nil.
func Finder(libraries *search.Path, program *image.Image) func(name string) (string, error) {
	libraries = libraries.PassingOver(func(m *image.Image) bool { return m.Auxiliary == soname.Libtpsl })
	return func(name string) (string, error) { return libraries.Find(name, program) }
}

// Wanted tells the ABI of a program from the names of MPI libraries that it is linked with, by itself or by its libraries.
// linked tells whether a name is among them. A program that is linked with none opens its MPI library later: it is taken
// for one of MPICH. An error says that one program is linked with libraries of two ABIs.
func Wanted(linked func(name string) bool) (ABI, error) {
	var found []string
	wanted := MPICH
	for _, kind := range []struct {
		abi   ABI
		names []string
	}{{MPICH, soname.MPI}, {Standard, []string{soname.StandardABI}}, {OpenMPI, soname.OpenMPI}} {
		if i := slices.IndexFunc(kind.names, linked); i >= 0 {
			found = append(found, fmt.Sprintf("%s (%s)", kind.names[i], kind.abi))
			wanted = kind.abi
		}
	}
	if len(found) > 1 {
		return "", fmt.Errorf("linked with %s, and a process has one MPI library; build the program and all its libraries for one of them", strings.Join(found, " and with "))
	}
	return wanted, nil
}

// Find returns the file of the MPI library for a program with this ABI: the one asked for in TPSL_MPI_LIBRARY, else the
// first of the ABI's usual names that there is, and of these one that the program needs. find is a Finder.
func Find(asked string, abi ABI, needed []string, find func(name string) (string, error)) (string, error) {
	if abi == OpenMPI {
		return "", errors.New("the program is linked with Open MPI, and thread ranks cannot use its ABI; build the program and its libraries by tpslcc")
	}
	if asked != "" {
		path, err := find(asked)
		if err != nil {
			return "", fmt.Errorf("TPSL_MPI_LIBRARY=%s: %w; name a library with %s there", asked, err, the(abi))
		}
		return path, check(path, abi)
	}
	var first error
	for _, name := range inOrder(namesOf(abi), needed) {
		path, err := find(name)
		if err == nil {
			return path, check(path, abi)
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("no MPI library: %w; install %s, or name one in TPSL_MPI_LIBRARY", first, makerOf(abi))
}

// the returns an ABI as part of a sentence.
func the(abi ABI) string {
	if abi == Standard {
		return "the standard ABI"
	}
	return "the " + string(abi) + " ABI"
}

// possessive returns an ABI as the end of a sentence.
func possessive(abi ABI) string {
	if abi == Standard {
		return "the standard one"
	}
	return string(abi) + "'s"
}

func makerOf(abi ABI) string {
	if abi == Standard {
		return "an MPI library with the standard ABI (of MPICH 5 or Open MPI 6)"
	}
	return "MPICH"
}

// namesOf returns the names by which programs know the libraries of an ABI.
func namesOf(abi ABI) []string {
	if abi == Standard {
		return []string{soname.StandardABI}
	}
	return soname.MPI
}

// inOrder returns names, those first that are needed. A program linked by tpslcc needs the stand-ins of all.
func inOrder(names, needed []string) []string {
	order := slices.Clone(names)
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

// check refuses a library that programs with this ABI cannot use.
func check(path string, wanted ABI) error {
	remedy := "name a library with " + the(wanted) + " in TPSL_MPI_LIBRARY"
	m, err := image.Open(path)
	if err != nil {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	defer m.Close()
	switch abi := ABIOf(m); {
	case abi == wanted:
		return nil
	case abi == StandIn:
		return fmt.Errorf("%s is a stand-in that leads back to libtpsl: %s", path, remedy)
	case abi == NotMPI:
		return fmt.Errorf("%s is not an MPI library, it has no PMPI_Init: %s", path, remedy)
	case abi == OpenMPI:
		return fmt.Errorf("%s is Open MPI: its ABI is not %s; %s", path, possessive(wanted), remedy)
	case abi == Standard:
		return fmt.Errorf("%s has the standard ABI, and the program was built for MPICH's: %s, or build the program by tpslcc -mpi=abi", path, remedy)
	default:
		return fmt.Errorf("%s has the MPICH ABI, and the program was built for the standard ABI: %s, or build the program by tpslcc -mpi=mpich", path, remedy)
	}
}
