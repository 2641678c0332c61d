// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The C of the loader, of the modes and of the shim compiles with the headers of glibc 2.34, which lack what came with 2.35.
func TestCompilesWithGlibc234(t *testing.T) {
	testsupport.Require(t, "gcc")
	root := testsupport.Root(t)
	var sources []string
	for _, folder := range []string{"loader", "process", "tpsl", "host", "host/shim"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.c"))
		require.NoError(t, err)
		for _, file := range files {
			if !strings.Contains(readFile(t, filepath.Join(folder, filepath.Base(file))), `"_cgo_export.h"`) { // which cgo makes
				sources = append(sources, file)
			}
		}
	}
	require.Greater(t, len(sources), 50)
	flags := []string{"gcc", "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-Itestdata/glibc-2.34"}
	for _, folder := range []string{"loader", "process", "endpoints", "include"} {
		flags = append(flags, "-I"+filepath.Join(root, folder))
	}
	run(t, nil, append(flags, sources...)...)
	_, stderr, code := testsupport.Run(t, limit, []string{"LC_ALL=C"}, "sh", "-c", `echo '#include <dlfcn.h>
#include <link.h>
struct dl_find_object a; struct r_debug_extended b;' | gcc -fsyntax-only -D_GNU_SOURCE -Itestdata/glibc-2.34 -x c -`)
	assert.NotZero(t, code, "these headers are not those of glibc 2.34")
	assert.Contains(t, stderr, "storage size of 'a' isn't known")
	assert.Contains(t, stderr, "storage size of 'b' isn't known")
}

// Libraries that were built with glibc 2.35 or newer load where what it brought is missing: they look it up when they run.
func TestGlibc235IsOptional(t *testing.T) {
	lib := filepath.Join(testsupport.Build(t), "lib")
	for _, name := range []string{"libtpsl.so.0", "tpsl/libtpslhost.so", "tpsl/libtpslshim.so"} {
		library, err := elf.Open(filepath.Join(lib, name))
		require.NoError(t, err)
		symbols, err := library.ImportedSymbols()
		library.Close()
		require.NoError(t, err)
		require.NotEmpty(t, symbols)
		for _, s := range symbols {
			assert.NotEqual(t, "GLIBC_2.35", s.Version, "%s: %s", name, s.Name)
		}
	}
}
