// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Instances that map a segment at the same time have one mapping, although each of them has made one. It goes with its last user.
func TestSegmentMappedTogether(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/segments.c", "libc_mmap.c", "libc_locks.c", "-D_GNU_SOURCE", "-I.", "-O2", "-pthread")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "file: 0 wrong\nSysV: 0 wrong\n", stdout)
}
