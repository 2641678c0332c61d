// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A program starts and runs on a library that lacks most names, and learns of a missing
// one when it calls it.
func TestLibraryLacksNames(t *testing.T) {
	program := fixture(t, "lacking")
	older, unending := library(t, "older"), library(t, "older", "-DNO_FINALIZE")
	for _, c := range []struct {
		calls, library, stdout, lacks string
	}{
		{"", older, "size 42\ndone\n", ""},
		{"MPI_Barrier", older, "size 42\n", "MPI_Barrier"},
		{"PMPI_Comm_compare", older, "size 42\n", "MPI_Comm_compare"},
		{"MPI_Init_thread", older, "", "MPI_Init_thread"}, // stands behind one of ours
		{"", unending, "size 42\n", "MPI_Finalize"},
	} {
		t.Run("calls "+c.calls+" lacks "+c.lacks, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := run(t, []string{"TPSL_MPI_LIBRARY=" + c.library}, program, c.calls)
			assert.Equal(t, c.stdout, job.stdout)
			if c.lacks == "" {
				job.succeeded(t)
				return
			}
			assert.Equal(t, 1, job.code)
			oneLine(t, job, "tpsl", c.lacks+": the MPI library "+c.library+" has no such function")
		})
	}
}
