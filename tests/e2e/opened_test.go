// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// What the program opens after MPI_Init is the process's, whether UCX hears of memory by a change of code or by a change of
// references. The latter leads all calls of dlopen and dlclose to libucm first, those of libtpsl among them.
func TestOpenedByTheProgram(t *testing.T) {
	program, opened := fixture(t, "opened"), library(t, "opened", "-DLIBRARY")
	for _, mode := range []string{"bistro", "reloc"} {
		t.Run(mode, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"UCX_MEM_MMAP_HOOK_MODE=" + mode}, "-n 4 -rpp 2", program, opened).succeeded(t)
			assert.Equal(t, []string{"2 calls\n", "2 calls\n"}, job.lines())
		})
	}
}
