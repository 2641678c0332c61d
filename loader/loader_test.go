// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader"
)

// library compiles a fixture into lib<name>.so in a folder of its own.
func library(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return libraryBy(t, "gcc", source, flags...)
}

func libraryBy(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	return named(t, compiler, "lib"+strings.TrimSuffix(source, filepath.Ext(source))+".so", source, flags...)
}

// libraryNamed compiles a fixture into a library of that name.
func libraryNamed(t *testing.T, so, source string, flags ...string) string {
	t.Helper()
	return named(t, "gcc", so, source, flags...)
}

func named(t *testing.T, compiler, so, source string, flags ...string) string {
	t.Helper()
	out := testsupport.CC(t, compiler, filepath.Join("testdata", source), append([]string{"-shared", "-fPIC", "-O1", "-Wl,-soname," + so}, flags...)...)
	path := filepath.Join(filepath.Dir(out), so)
	if err := os.Remove(path); err != nil { // of a run before
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.NoError(t, os.Link(out, path))
	return path
}

// linkTo returns the flags that link a fixture to another one.
func linkTo(path string) []string {
	return []string{path, "-Wl,-rpath," + filepath.Dir(path)}
}

func open(t *testing.T, path string, environment ...string) *loader.Instance {
	t.Helper()
	i, err := loader.Open(path, environment...)
	require.NoError(t, err)
	return i
}

func call(t *testing.T, i *loader.Instance, function string, arguments ...uintptr) int {
	t.Helper()
	v, err := i.Call(function, arguments...)
	require.NoError(t, err)
	return int(int32(v))
}

func symbol(t *testing.T, i *loader.Instance, name string) uintptr {
	t.Helper()
	address, err := i.Symbol(name)
	require.NoError(t, err)
	return address
}

func counter(t *testing.T, flags ...string) string {
	helper := library(t, "helper.c")
	return library(t, "counter.c", append(linkTo(helper), flags...)...)
}

func TestInstancesAreApart(t *testing.T) {
	for _, layout := range []struct{ name, flag string }{
		{"gnu hash", "-Wl,--hash-style=gnu"},
		{"sysv hash", "-Wl,--hash-style=sysv"},
		{"relr", "-Wl,-z,pack-relative-relocs"},
		{"no relro", "-Wl,-z,norelro"},
		{"now", "-Wl,-z,now"},
		{"large pages", "-Wl,-z,max-page-size=0x200000"},
	} {
		t.Run(layout.name, func(t *testing.T) {
			path := counter(t, layout.flag)
			a, b := open(t, path), open(t, path)
			assert.Equal(t, 6, call(t, a, "bump"))
			assert.Equal(t, 7, call(t, a, "bump"))
			assert.Equal(t, 6, call(t, b, "bump"), "data")
			assert.Equal(t, 0, call(t, a, "fill"))
			assert.Equal(t, 600, call(t, a, "fill"))
			assert.Equal(t, 0, call(t, b, "fill"), "BSS")
			assert.Equal(t, 1, call(t, a, "helper"))
			assert.Equal(t, 2, call(t, a, "helper"))
			assert.Equal(t, 1, call(t, b, "helper"), "a private dependency")
			for _, yes := range []string{"through_pointers", "weak_is_null", "constructed", "found_by_dladdr", "own_default", "missing_plugin"} {
				assert.NotZero(t, call(t, a, yes), yes)
			}
			require.NoError(t, loader.Verify(nil))
		})
	}
}

func TestEnvironmentOverlay(t *testing.T) {
	t.Setenv("FLAVOUR", "plain")
	path := counter(t)
	sweet, sour := cString(t, "sweet"), cString(t, "sour")
	a, b, c := open(t, path, "FLAVOUR=sweet"), open(t, path, "FLAVOUR=sour"), open(t, path)
	assert.Equal(t, 1, call(t, a, "environment_is", sweet))
	assert.Equal(t, 1, call(t, b, "environment_is", sour))
	assert.Equal(t, 1, call(t, c, "environment_is", cString(t, "plain")))
	assert.Equal(t, 1, call(t, a, "thread_inherits", sweet))
	assert.Equal(t, 1, call(t, b, "thread_inherits", sour))
}

// TPSL_POLICY places libraries of the closure otherwise.
func TestUsersPolicy(t *testing.T) {
	defer loader.Configure(loader.Config{})
	path := counter(t)
	file := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(file, []byte("libhelper.so shared\n"), 0o600))
	t.Setenv("TPSL_POLICY", file)
	loader.Configure(loader.Config{})
	a, b := open(t, path), open(t, path)
	assert.Equal(t, 1, call(t, a, "helper"))
	assert.Equal(t, 2, call(t, b, "helper"), "the process's own copy")

	require.NoError(t, os.WriteFile(file, []byte("libhelper.so his\n"), 0o600))
	loader.Configure(loader.Config{})
	_, err := loader.Open(path)
	assert.ErrorContains(t, err, "TPSL_POLICY: "+file+`:1: placement "his" is none of`)
}

// A private library's exceptions are its own affair: the unwinder finds its frames.
func TestExceptionsInsideAnInstance(t *testing.T) {
	for _, runtime := range [][]string{{"-lstdc++"}, {"-lstdc++", "-static-libgcc"}} {
		path := library(t, "throws.cc", append(runtime, "-Wl,-z,defs")...)
		a, b := open(t, path), open(t, path)
		assert.Equal(t, 42, call(t, a, "caught", 42))
		assert.Equal(t, 43, call(t, b, "caught", 43))
		assert.Equal(t, 1, call(t, a, "unwound"), "destructors that ran")
		assert.Equal(t, 1, call(t, b, "unwound"))
	}
}

func TestPluginsBelongToTheInstance(t *testing.T) {
	path := counter(t)
	plugin := cString(t, library(t, "plugin.c"))
	a, b := open(t, path), open(t, path)
	call(t, a, "bump")
	assert.Equal(t, 6, call(t, a, "plugin", plugin))
	assert.Equal(t, 5, call(t, b, "plugin", plugin))
	assert.Equal(t, 6, call(t, a, "plugin", plugin), "opened again")
	require.NoError(t, loader.Verify(nil))
}

func TestPluginsAreLocal(t *testing.T) {
	one, two := library(t, "same.c", "-DANSWER=1"), library(t, "same.c", "-DANSWER=2")
	i := open(t, counter(t))
	assert.Equal(t, 12, call(t, i, "plugins_apart", cString(t, one), cString(t, two)))
}

func TestIndirectFunctions(t *testing.T) {
	path := library(t, "ifunc.c")
	a, b := open(t, path), open(t, path)
	call(t, b, "set_base", 50)
	for _, f := range []string{"by_call", "by_hidden", "by_pointer"} {
		assert.Equal(t, 42, call(t, a, f), f)
		assert.Equal(t, 52, call(t, b, f), f)
	}
}

func TestCopyRelocations(t *testing.T) {
	copied := library(t, "copied.c")
	program := testsupport.CC(t, "gcc", "testdata/program.c", append([]string{"-pie", "-fPIE", "-O1", "-rdynamic"}, linkTo(copied)...)...)
	i := open(t, program)
	assert.Equal(t, 77, call(t, i, "value"))
	assert.Equal(t, 1, call(t, i, "same_address"), "the program's copy is the one that counts")
}

func TestSymbolVersions(t *testing.T) {
	versions := library(t, "versions.c", "-Wl,--version-script=testdata/versions.map")
	user := library(t, "uses_versions.c", linkTo(versions)...)
	assert.Equal(t, 12, call(t, open(t, user), "both"))
}

// An absolute symbol is a number, which is the same wherever the library is mapped.
func TestAbsoluteSymbol(t *testing.T) {
	i := open(t, library(t, "absolute.c", "-Wl,--defsym,fixed=0x1234"))
	defer i.Close()
	assert.Equal(t, uintptr(0x1234), symbol(t, i, "fixed"))
	assert.Equal(t, 0x1234, call(t, i, "referred"))
	assert.Equal(t, 0x1234, call(t, i, "found"))
}

func TestClose(t *testing.T) {
	i := open(t, counter(t))
	witness, text := cBuffer(t, 8)
	call(t, i, "watch_end", witness)
	i.Close()
	assert.Equal(t, "ed", text(), "atexit functions, then destructors")
	_, err := i.Symbol("bump")
	require.ErrorIs(t, err, loader.ErrClosed)
	i.Close()
}

func TestNoSuchSymbol(t *testing.T) {
	_, err := open(t, counter(t)).Symbol("nothing")
	require.ErrorIs(t, err, loader.ErrNoSymbol)
}
