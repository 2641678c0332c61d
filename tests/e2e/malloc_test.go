// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A malloc that stands in front of libc's serves the instances, too: memory from libc's
// own functions would come from one and be freed by the other.
func TestMallocInFront(t *testing.T) {
	testsupport.NothingLeft(t)
	mallocs := library(t, "mallocs", "-O1", "-fno-builtin", "-Wl,-z,initfirst")
	job := mpiexec(t, nil, "-genv LD_PRELOAD "+mallocs+" -n 2 -rpp 2", fixture(t, "sends", "-DTWO")).succeeded(t)
	assert.Empty(t, job.stdout)

	// Threads that end, with an error of TPSL_Dlopen that nobody asked for.
	threads := testsupport.CC(t, "tpslcc", "testdata/exchange.c", "-O2", "-pthread")
	job = mpiexec(t, nil, "-genv LD_PRELOAD "+mallocs+" -n 2 -rpp 2", threads).succeeded(t)
	assert.Equal(t, []string{"rank 0 heard from rank 1\n", "rank 1 heard from rank 0\n"}, job.lines())
}
