// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader"
)

// What the psABI and GNU's linkers have, by both compilers: each function counts in a
// variable of its own instance, or says 1 for yes.
func TestFeatures(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		for _, c := range []struct {
			name, flag string
			relocation elf.R_X86_64 // that the library must have
			ours       int          // symbolic_is_ours
		}{
			{"plain", "-O2", elf.R_X86_64_GLOB_DAT, 1},
			{"-fno-plt", "-fno-plt", elf.R_X86_64_GLOB_DAT, 1},
			{"lazy", "-Wl,-z,lazy", elf.R_X86_64_JMP_SLOT, 1},
			{"now", "-Wl,-z,now", elf.R_X86_64_GLOB_DAT, 1},
			{"relr", "-Wl,-z,pack-relative-relocs", elf.R_X86_64_GLOB_DAT, 1},
			{"CET properties", "-fcf-protection=full", elf.R_X86_64_GLOB_DAT, 1},
			{"-Bsymbolic", "-Wl,-Bsymbolic", elf.R_X86_64_RELATIVE, 0},
			{"-Bsymbolic-functions", "-Wl,-Bsymbolic-functions", elf.R_X86_64_GLOB_DAT, 1},
			{"gold", "-fuse-ld=gold", elf.R_X86_64_GLOB_DAT, 1},
			{"sizes", "-DSIZE", elf.R_X86_64_SIZE64, 1}, // gold makes none
			{"no section headers", "-Wl,--strip-all", elf.R_X86_64_GLOB_DAT, 1},
		} {
			t.Run(compiler+" "+c.name, func(t *testing.T) {
				back := libraryBy(t, compiler, "features.c", "-DBACK", "-Wl,-soname,libback.so", c.flag)
				rename(t, back, "libback.so")
				path := libraryBy(t, compiler, "features.c", append(linkTo(filepath.Join(filepath.Dir(back), "libback.so")), c.flag)...)
				assert.NotZero(t, relocations(t, path)[c.relocation])
				a, b := open(t, path), open(t, path)
				for turn := 1; turn <= 2; turn++ {
					for _, state := range []string{"protected_state", "hidden_state", "unique_state", "ifunc_state"} {
						assert.Equal(t, turn, call(t, a, state), state)
					}
				}
				for _, state := range []string{"protected_state", "hidden_state", "unique_state", "ifunc_state"} {
					assert.Equal(t, 1, call(t, b, state), state)
				}
				assert.Equal(t, 1, call(t, a, "next_is_behind"))
				assert.Equal(t, 1, call(t, a, "size_known"))
				assert.Equal(t, c.ours, call(t, a, "symbolic_is_ours"))
				if c.ours == 1 {
					assert.Equal(t, 1, call(t, a, "interposed_one"))
					assert.Equal(t, 2, call(t, a, "interposed_one"))
					assert.Equal(t, 1, call(t, b, "interposed_one"))
				}
				require.NoError(t, loader.Verify(nil))
				a.Close()
				b.Close()
			})
		}
	}
}

// Exceptions and types cross from one instance to another, as the runtime is shared.
func TestTypesAcrossInstances(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		path := libraryBy(t, compiler, "rtti.cc", "-O1", "-lstdc++")
		a, b := open(t, path), open(t, path)
		thrower := symbol(t, b, "throw_one")
		assert.Equal(t, 5, call(t, a, "catch_from", thrower, 5))
		object, err := b.Call("make", 6)
		require.NoError(t, err)
		assert.Equal(t, 6, call(t, a, "own", object))
		assert.Equal(t, 1, call(t, a, "template_state"))
		assert.Equal(t, 2, call(t, a, "template_state"))
		assert.Equal(t, 1, call(t, b, "template_state"), "GNU_UNIQUE is one per instance")
	}
}

// dlopen finds a library by DT_RUNPATH or DT_RPATH of the object that calls it, and what
// is there by its name.
func TestPluginByRunpath(t *testing.T) {
	plugin := library(t, "plugin.c")
	for _, tags := range []string{"-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"} {
		helper := library(t, "helper.c")
		path := library(t, "counter.c", append(linkTo(helper), tags, "-Wl,-rpath,$ORIGIN/plugins")...)
		plugins := filepath.Join(filepath.Dir(path), "plugins")
		require.NoError(t, os.MkdirAll(plugins, 0o777))
		to := filepath.Join(plugins, "libby_runpath.so")
		_ = os.Remove(to)
		require.NoError(t, os.Link(plugin, to))
		i := open(t, path)
		assert.Equal(t, 0, call(t, i, "opens", cString(t, "libplugin.so")), "its SONAME, in no folder of the path")
		assert.Equal(t, 5, call(t, i, "plugin", cString(t, "libby_runpath.so")))
		assert.Equal(t, 1, call(t, i, "opens", cString(t, "libplugin.so")))
		i.Close()
	}
}

// Two libraries that need each other come up, and go.
func TestCyclicNeeds(t *testing.T) {
	dir := t.TempDir()
	compile := func(name string, flags ...string) string {
		path := filepath.Join(dir, name)
		flags = append([]string{"gcc", "-shared", "-fPIC", "-o", path, "testdata/cycle.c", "-Wl,-soname," + name, "-Wl,-rpath," + dir, "-Wl,--no-as-needed"}, flags...)
		_, stderr, code := testsupport.Run(t, time.Minute, nil, flags...)
		require.Zero(t, code, stderr)
		return path
	}
	compile("libright.so", "-DOTHER=left", "-DONE=right")
	left := compile("libleft.so", "-DOTHER=right", "-DONE=left", filepath.Join(dir, "libright.so"))
	compile("libright.so", "-DOTHER=left", "-DONE=right", left)
	for range 2 {
		start := time.Now()
		a, b := open(t, left), open(t, left)
		assert.Less(t, time.Since(start), time.Minute, "and not for ever")
		assert.Equal(t, 11, call(t, a, "left"))
		assert.Equal(t, 22, call(t, a, "left"))
		assert.Equal(t, 11, call(t, b, "left"))
		a.Close()
		b.Close()
	}
}
