// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
)

// refuseOpenMPI refuses a program that is linked with Open MPI: it would look for PMIx, find none, and each of its ranks
// be a job of one.
func refuseOpenMPI(path string) error {
	if library := openMPI(path); library != "" {
		return fmt.Errorf("it is linked with Open MPI (%s), which needs PMIx, and mpiexec serves PMI 1 and 2; "+
			"build it with MPICH, start it by Open MPI's own mpirun, or give -pmi 2 if this Open MPI speaks that", library)
	}
	return nil
}

// openMPI returns the library of Open MPI that a file is linked with. One that is no ELF file has none.
func openMPI(path string) string {
	program, err := image.Open(path)
	if err != nil {
		return ""
	}
	defer program.Close()
	i := slices.IndexFunc(program.Needed, func(name string) bool { return slices.Contains(soname.OpenMPI, name) })
	if i < 0 {
		return ""
	}
	return program.Needed[i]
}
