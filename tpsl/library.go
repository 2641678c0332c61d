// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"fmt"

	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/image"
)

// defaultLibraries are the names of an MPI library with the MPICH ABI: as Debian
// and MPICH builds with a wrapper prefix have it, and as everyone else does.
var defaultLibraries = []string{"libmpich.so.12", "libmpi.so.12"}

// findLibrary returns the file of the MPI library: the one asked for in
// TPSL_MPI_LIBRARY, else the first default that ld.so would find.
func findLibrary(asked string) (string, error) {
	if asked != "" {
		path, err := loader.FindLibrary(asked)
		if err != nil {
			return "", fmt.Errorf("TPSL_MPI_LIBRARY=%s: %w; name a library with the MPICH ABI there", asked, err)
		}
		return path, checkABI(path)
	}
	var first error
	for _, name := range defaultLibraries {
		path, err := loader.FindLibrary(name)
		if err == nil {
			return path, checkABI(path)
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("no MPI library: %w; install MPICH, or name one in TPSL_MPI_LIBRARY", first)
}

// checkABI refuses a library that is not MPI, or MPI with other handles and
// constants than those the program was compiled with.
func checkABI(path string) error {
	m, err := image.Open(path)
	if err != nil {
		return fmt.Errorf("%w; name a library with the MPICH ABI in TPSL_MPI_LIBRARY", err)
	}
	defer m.Close()
	if _, ok := m.Lookup("ompi_mpi_init", ""); ok {
		return fmt.Errorf("%s is Open MPI: its ABI is not MPICH's; name a library with the MPICH ABI in TPSL_MPI_LIBRARY", path)
	}
	if _, ok := m.Lookup("PMPI_Init", ""); !ok {
		return fmt.Errorf("%s is not an MPI library, it has no PMPI_Init: name one with the MPICH ABI in TPSL_MPI_LIBRARY", path)
	}
	return nil
}
