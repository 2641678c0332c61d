// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// On a machine of two NUMA nodes each virtual rail has its memory on its own node, and the lock of model HMCS stays on a node while
// threads there want it.
func TestNUMA(t *testing.T) {
	verbs, engine := withVerbs(t, "../../endpoints/engine/verbs", "test", "-c"), withVerbs(t, "../../endpoints/engine", "test", "-c")
	testsupport.Limit(t, 2*limit)
	testsupport.Require(t, "qemu-system-x86_64", "busybox", "xz", "apt-get", "dpkg", "rdma", "sshd")
	testsupport.NothingLeft(t)
	g, err := guest.Start(context.Background(), guest.Options{Guests: 1, Nodes: 2})
	require.NoError(t, err)
	defer func() { assert.NoError(t, g.Stop()) }()
	for binary, test := range map[string]string{verbs: "TestRailsAreNear", engine: "TestHMCSOnTwoNodes"} {
		t.Run(test, func(t *testing.T) {
			env := []string{"TPSL_TEST_NUMA=1"}
			if binary == verbs {
				env = append(env, "TPSL_TEST_VERBS=rxe0:1")
			}
			r := in(t, g, 0, env, binary, "-test.v", "-test.run", "^"+test+"$")
			assert.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
			assert.Contains(t, r.Stdout, "--- PASS: "+test)
			t.Log(r.Stdout)
		})
	}
}
