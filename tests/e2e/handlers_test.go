// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A program that installs a fault handler before MPI_Init sees what it sees under plain MPICH: mask, SA_RESETHAND,
// SA_NODEFER, SIG_IGN. A child that it forks is not the rank.
func TestHandlersAreTheKernels(t *testing.T) {
	const source = "testdata/handlers.c"
	plain, ours := flat(t, source), fixture(t, "handlers")
	for _, word := range []string{"once", "again", "mask", "nodefer", "ignored", "forked"} {
		t.Run(word, func(t *testing.T) {
			testsupport.NothingLeft(t)
			want := mpiexec(t, nil, "-n 1", plain, word)
			got := mpiexec(t, nil, "-n 1", ours, word)
			assert.Equal(t, want.stdout, got.stdout)
			assert.Equal(t, want.code, got.code)
			if want.code == 0 {
				assert.Empty(t, got.stderr)
			}
		})
	}
}
