// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The tests of package verbs run on a real device, none of them skipped. Those of the hook need no device.
func TestRegistrationCache(t *testing.T) {
	testsupport.Require(t, "gcc", "pkg-config")
	if _, _, code := testsupport.Run(t, limit, nil, "pkg-config", "--exists", "libibverbs", "ucx"); code != 0 {
		testsupport.Unable(t, "libibverbs-dev or libucx-dev is not installed")
	}
	binary := filepath.Join(t.TempDir(), "verbs.test")
	_, stderr, code := testsupport.Run(t, limit, nil, "go", "test", "-tags", "verbs", "-c", "-o", binary, "../../ib/verbs")
	require.Zero(t, code, stderr)
	r := in(t, guests(t, 1), 0, []string{"TPSL_TEST_VERBS=rxe0"}, binary, "-test.v", "-test.skip=Hook", "-test.timeout=80s")
	t.Log(r.Stdout)
	assert.Zero(t, r.Code, r.Stderr)
	assert.Contains(t, r.Stdout, "--- PASS: TestNeverStale/munmap/hook")
	assert.NotContains(t, r.Stdout, "--- SKIP")
}
