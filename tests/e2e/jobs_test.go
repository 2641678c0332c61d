// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Jobs one after the other leave nothing: no process, descriptor, file in /dev/shm or SysV segment. TPSL_TEST_LARGE=1
// makes 2,000 of them.
func TestJobAfterJob(t *testing.T) {
	testsupport.NothingLeft(t)
	jobs := testsupport.Times(20, 2000)
	program := example(t, "ring")
	want := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t).stdout
	for i := range jobs {
		got := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t).stdout
		require.Equal(t, want, got, "job %d", i)
	}
}
