// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The shim's getopt does what libc's does, in results, order of arguments and messages.
func TestGetoptIsLibcs(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/getopt.c")
	ours := testsupport.CC(t, "gcc", "shim/getopt.c", "-shared", "-fPIC", "-fno-builtin", "-D_GNU_SOURCE")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program)
	require.Zero(t, code)
	gotOut, gotErr, code := testsupport.Run(t, time.Minute, []string{"LD_PRELOAD=" + ours}, program)
	require.Zero(t, code)
	assert.True(t, stdout == gotOut, "results differ")
	assert.True(t, stderr == gotErr, "messages differ")
}
