// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"strings"
	"testing"
	"time"

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
	sameLines(t, stdout, gotOut)
	sameLines(t, stderr, gotErr)
}

// sameLines shows the first line that differs, of thousands.
func sameLines(t *testing.T, want, got string) {
	t.Helper()
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	require.Len(t, gotten, len(wanted))
	for i := range wanted {
		require.Equal(t, wanted[i], gotten[i], "line %d", i+1)
	}
}
