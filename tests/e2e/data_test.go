// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A variable of the MPI library is one, also where the program holds it itself (a
// COPY relocation) in place of libtpsl.
func TestDataSymbols(t *testing.T) {
	for name, flags := range map[string][]string{
		"in libtpsl":     {"-fPIC"},
		"in the program": {"-fno-pie", "-no-pie"},
	} {
		t.Run(name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "data", flags...)).succeeded(t)
			assert.Equal(t, []string{"rank 0: same variable\n", "rank 1: same variable\n"}, job.lines())
		})
	}
}
