// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Eight threads use a copy each of a library that is wrong with two threads; without
// mpiexec. Those that are open at the end are ended, too.
func TestPrivateCopies(t *testing.T) {
	testsupport.NothingLeft(t)
	const source = "testdata/copies.c"
	program := testsupport.CC(t, "tpslcc", source, "-fopenmp")
	library := testsupport.CC(t, "gcc", source, "-DLIBRARY", "-shared", "-fPIC")
	plugin := testsupport.CC(t, "gcc", source, "-DPLUGIN", "-shared", "-fPIC")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program, library, plugin)
	assert.Zero(t, code, stderr)
	assert.Equal(t, strings.Join([]string{
		"right: 8",
		"nothing refused: TPSL_Dlsym: nothing is not defined by this copy",
		"ended at 100001", "ended at 100002", "ended at 100003", "ended at 100004", "ended at 100005", "ended at 100006", "ended at 100007",
		"closed refused: TPSL_Dlclose: this copy is not open",
		"symbol refused: TPSL_Dlsym: this copy is not open",
		"nothing more done: -",
		"ended at 100000", "",
	}, "\n"), stdout)
}

func TestPrivateCopiesRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	const source = "testdata/copies.c"
	program := testsupport.CC(t, "tpslcc", source, "-fopenmp")
	static := testsupport.CC(t, "gcc", source, "-DLIBRARY", "-DSTATIC_TLS", "-shared", "-fPIC")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program, "", "", static)
	assert.Zero(t, code, stderr)
	lines := strings.Split(stdout, "\n")
	assert.Contains(t, lines[0], static+": initial-exec thread-local storage needs threads that act for the instance")
	assert.Contains(t, lines[1], "open refused: TPSL_Dlopen: find libnosuch.so.7: not found")
}
