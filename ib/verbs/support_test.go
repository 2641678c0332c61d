// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/ib/verbs/loop"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// device opens the device that the tests are to use.
func device(t testing.TB) *Device {
	name := os.Getenv("TPSL_TEST_VERBS")
	if name == "" {
		t.Skip("needs an RDMA device, named in TPSL_TEST_VERBS: TestRegistrationCache of tests/rdma runs this in a guest")
	}
	d, err := Open(name)
	require.NoError(t, err)
	return d
}

// loopOf makes a loop of the device, closed at the end of the test.
func loopOf(t testing.TB, d *Device) *loop.Loop {
	port, err := queue.NewPort(d.Domain(), 1, 0)
	require.NoError(t, err)
	l, err := loop.Open(port, d, LocalWrite, size)
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}
