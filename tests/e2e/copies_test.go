// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	stdout, stderr, code := testsupport.Run(t, limit, nil, program, library, plugin)
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
	stdout, stderr, code := testsupport.Run(t, limit, nil, program, "", "", static)
	assert.Zero(t, code, stderr)
	lines := strings.Split(stdout, "\n")
	assert.Contains(t, lines[0], static+": initial-exec thread-local storage needs threads that act for the instance")
	assert.Contains(t, lines[1], "open refused: TPSL_Dlopen: find libnosuch.so.7: not found")
}

// gdb sees every copy, and no longer one that was closed.
func TestGdbSeesCopies(t *testing.T) {
	testsupport.NothingLeft(t)
	const source = "testdata/copies.c"
	program := testsupport.CC(t, "tpslcc", source, "-fopenmp")
	library := testsupport.CC(t, "gcc", source, "-DLIBRARY", "-shared", "-fPIC")
	plugin := testsupport.CC(t, "gcc", source, "-DPLUGIN", "-shared", "-fPIC")
	look := "info sharedlibrary " + filepath.Dir(library)
	gdb := gdbWords(t, "set breakpoint pending on", "break TPSL_Dlclose", "run", look, "echo ---\\n", "delete", "finish", look, "echo ---\\n", "continue", look)
	words := append(gdb, "--args", program, library, plugin)
	stdout, stderr, code := testsupport.Run(t, limit, nil, words...)
	require.Zero(t, code, stderr)
	parts := strings.Split(stdout, "---\n")
	require.Len(t, parts, 3, stdout)
	for i, copies := range []int{8, 7} {
		assert.Equal(t, copies, strings.Count(parts[i], "  "+library+"\n")+strings.Count(parts[i], "*) "+library+"\n"), parts[i])
	}
	assert.Contains(t, parts[2], "exited normally")
}

// What a thread had of a copy's thread-local variables goes with it, and registration caches hear of that: the variable may
// have been sent.
func TestThreadLocalsAreHeardToGo(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 1", fixture(t, "local"), library(t, "local", "-DLIBRARY")).succeeded(t)
	assert.Equal(t, "heard 1 times\n", job.stdout)
}
