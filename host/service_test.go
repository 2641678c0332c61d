// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The host serves each request of its ranks once, in the order of asking, on the CPUs of the rank, and a rank waits for its own
// request, also when a signal comes.
func TestService(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/requests.c", "-D_GNU_SOURCE", "-I.", "-I../loader", "-I../process", "-O2", "-pthread")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "0 wrong\n", stdout)
}
