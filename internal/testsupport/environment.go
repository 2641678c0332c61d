// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"os"
	"slices"
	"strings"
)

// ClearEnvironment removes what the caller has set for OpenMP, MPI and tpsl: it is not what
// tests of whole jobs expect. For TestMain.
func ClearEnvironment() {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		foreign := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if slices.ContainsFunc([]string{"OMP_", "GOMP_", "PMI_", "MPIR_", "MPICH_", "UCX_", "TPSL_"}, foreign) && !foreign("TPSL_TEST_") {
			os.Unsetenv(name)
		}
	}
}
