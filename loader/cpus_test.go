// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestCPULists(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/cpus.c", "cpus.c", "-D_GNU_SOURCE", "-I.")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program, "0-1,4", "7", "3,1", "2-", "x", "", "9999999999", "1022-1030")
	assert.Zero(t, code, stderr)
	assert.Equal(t, "0-1,4: 0 1 4\n7: 7\n3,1: 1 3\n2-: none\nx: none\n: none\n9999999999: none\n1022-1030: 1022 1023\n", stdout)
}
