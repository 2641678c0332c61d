// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package globals

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/image"
)

// read lists the variables of a file.
func read(t *testing.T, path string) *List {
	t.Helper()
	m, err := image.Open(path)
	require.NoError(t, err)
	defer m.Close()
	list, err := Read(m)
	require.NoError(t, err)
	return list
}

// described lists variables: bytes, name, source file and line.
func described(list *List) (all []string) {
	for _, v := range list.Variables {
		all = append(all, fmt.Sprintf("%d %s %s:%d", v.Bytes, v.Name, filepath.Base(v.File), v.Line))
	}
	return all
}

// at returns file and line of where a text first stands in a source of testdata.
func at(t *testing.T, source, text string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", source))
	require.NoError(t, err)
	before, _, ok := strings.Cut(string(content), text)
	require.True(t, ok, "%s in %s", text, source)
	return fmt.Sprintf("%s:%d", source, strings.Count(before, "\n")+1)
}

// Each of the variables of a program in C is listed once and no other, whatever the compiler, the version of its debug
// information and the kind of program. The copies of stdout and optind, which an ET_EXEC has, are libc's.
func TestC(t *testing.T) {
	want := []string{
		"4 rank " + at(t, "plain.c", "int rank"),
		"32 table " + at(t, "plain.c", "static double table"),
		"1048576 large " + at(t, "plain.c", "char large"),
		"4 count()::calls " + at(t, "plain.c", "static int calls;"),
		"4 again()::calls " + at(t, "plain.c", "static int calls = 7"),
	}
	for _, compiler := range []string{"gcc", "clang"} {
		for _, flags := range []string{"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -O2 -fno-inline", "-gdwarf-5 -no-pie", "-gdwarf-5 -shared -fPIC"} {
			t.Run(compiler+" "+flags, func(t *testing.T) {
				list := read(t, testsupport.CC(t, compiler, "testdata/plain.c", strings.Fields(flags)...))
				assert.Equal(t, want, described(list))
				assert.False(t, list.Stripped)
				assert.NoError(t, list.NoLines)
			})
		}
	}
}

// With link-time optimization an entry of debug information may complete one of another unit, whose file it names.
func TestLinkTimeOptimization(t *testing.T) {
	have := described(read(t, testsupport.CC(t, "gcc", "testdata/plain.c", "-g", "-O2", "-flto", "-fno-inline")))
	assert.Contains(t, have, "1048576 large "+at(t, "plain.c", "char large"))
	assert.Contains(t, have, "4 rank "+at(t, "plain.c", "int rank"))
}

func TestCxx(t *testing.T) {
	for compiler, lines := range map[string][2]string{
		"g++":     {"int Shape::made", "T *Pool<T>::first"}, // the definitions
		"clang++": {"static int made", "static T *first"},   // the declarations
	} {
		t.Run(compiler, func(t *testing.T) {
			have := described(read(t, testsupport.CC(t, compiler, "testdata/classes.cc", "-g", "-std=c++17")))
			assert.ElementsMatch(t, []string{
				"4 solver::step " + at(t, "classes.cc", "int step"),
				"4 solver::(anonymous namespace)::hidden " + at(t, "classes.cc", "int hidden"),
				"4 Shape::made " + at(t, "classes.cc", lines[0]),
				"8 Pool<double>::first " + at(t, "classes.cc", lines[1]),
				"32 title " + at(t, "classes.cc", "static std::string title"),
				"4 revision " + at(t, "classes.cc", "inline int revision"),
				"8 advance(int)::last " + at(t, "classes.cc", "static Shape *last"),
			}, have)
		})
	}
}

// Module variables, SAVE, large arrays of the main program, and COMMON blocks: each as one, however many procedures declare
// it. threadprivate has no effect without OpenMP, and with it large arrays are on the stack.
func TestFortran(t *testing.T) {
	modules := []string{
		"40 grid::cells " + at(t, "modules.f90", "integer :: cells"),
		"4 grid::first " + at(t, "modules.f90", "type(shape), save :: first"),
		"4 area()::calls " + at(t, "modules.f90", "integer, save :: calls"),
	}
	blocks := []string{
		"4 blank common " + at(t, "modules.f90", "common steps"),
		"8 common /block/ " + at(t, "modules.f90", "common /block/ left"),
	}
	openMP := described(read(t, testsupport.CC(t, "gfortran", "testdata/modules.f90", "-g", "-fopenmp", "-J"+t.TempDir())))
	assert.Equal(t, slices.Concat(modules, blocks), openMP)
	serial := described(read(t, testsupport.CC(t, "gfortran", "testdata/modules.f90", "-g", "-J"+t.TempDir())))
	assert.ElementsMatch(t, append(slices.Concat(modules, blocks), "4 grid::own "+at(t, "modules.f90", "integer, save :: own"),
		"400000 heat()::temperature "+at(t, "modules.f90", "real :: temperature")), serial)
}

// Without debug information the symbols tell the names, and the source files of static variables.
func TestWithoutLines(t *testing.T) {
	assert.Equal(t, []string{"1048576 large .:0", "4 rank .:0", "4 calls plain.c:0", "4 calls plain.c:0", "32 table plain.c:0"},
		described(read(t, testsupport.CC(t, "gcc", "testdata/plain.c"))))
	have := described(read(t, testsupport.CC(t, "gfortran", "testdata/modules.f90", "-fopenmp", "-J"+t.TempDir())))
	for _, want := range []string{"40 grid::cells .:0", "8 block_ .:0", "4 blank common .:0"} {
		assert.Contains(t, have, want)
	}
	have = described(read(t, testsupport.CC(t, "g++", "testdata/classes.cc", "-std=c++17")))
	assert.Contains(t, have, "4 solver::step .:0")
	assert.Contains(t, have, "8 advance(int)::last classes.cc:0")
	for _, line := range have {
		assert.NotContains(t, line, "std::__ioinit")
		assert.NotContains(t, line, "guard variable")
	}
}

// A stripped file with a separate file of its debugging information tells all.
func TestSeparateDebuggingInformation(t *testing.T) {
	whole := testsupport.CC(t, "gcc", "testdata/plain.c", "-g")
	stripped := filepath.Join(t.TempDir(), "stripped")
	for _, words := range [][]string{
		{"strip", "-o", stripped, whole},
		{"objcopy", "--only-keep-debug", whole, stripped + ".debug"},
		{"objcopy", "--add-gnu-debuglink=" + stripped + ".debug", stripped},
	} {
		require.NoError(t, exec.Command(words[0], words[1:]...).Run(), words)
	}
	list := read(t, stripped)
	assert.False(t, list.Stripped)
	assert.NoError(t, list.NoLines)
	assert.NotEmpty(t, list.Variables)
	assert.Equal(t, described(read(t, whole)), described(list))
}

// A stripped file tells what it exports only, which of a program is nothing.
func TestStripped(t *testing.T) {
	testsupport.Require(t, "strip")
	for flags, want := range map[string][]string{"-g": nil, "-g -shared -fPIC": {"1048576 large .:0", "4 rank .:0"}} {
		stripped := filepath.Join(t.TempDir(), "stripped")
		require.NoError(t, exec.Command("strip", "-o", stripped, testsupport.CC(t, "gcc", "testdata/plain.c", strings.Fields(flags)...)).Run())
		list := read(t, stripped)
		assert.True(t, list.Stripped)
		assert.Equal(t, want, described(list))
	}
}

// Debug information that is cut off, or compressed, keeps no variable from being listed.
func TestOddDebugInformation(t *testing.T) {
	testsupport.Require(t, "objcopy")
	whole := testsupport.CC(t, "gcc", "testdata/plain.c", "-g")
	changed := func(args ...string) *List {
		path := filepath.Join(t.TempDir(), "changed")
		out, err := exec.Command("objcopy", append(args, whole, path)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return read(t, path)
	}
	assert.Equal(t, described(read(t, whole)), described(changed("--compress-debug-sections")))

	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte(strings.Repeat("\xff", 100)), 0o600))
	list := changed("--update-section", ".debug_info="+garbage)
	assert.Len(t, list.Variables, 5)
	assert.ErrorContains(t, list.NoLines, "read debug information: ")
}

func TestOfImplementation(t *testing.T) {
	for symbol, want := range map[string]bool{
		"rank": false, "_rank": false, "block_": false, "__BLNK__": false, "__grid_MOD_cells": false, "_QMgridEcells": false, "_ZL4rank": false,
		"_ZZ4mainE5calls": false, "_ZN6solver4stepE": false, "_ZN12_GLOBAL__N_16hiddenE": false,
		"__dso_handle": true, "_Reserved": true, ".gomp_critical_user_a": true, "DW.ref.__gxx_personality_v0": true, "calls.0": false, "count.calls": false, "table.lto_priv.0": false, "__asan_globals": true, "__grid_MOD___vtab_grid_Shape": true,
		"_ZStL8__ioinit": true, "_ZGVZ7advanceiE4last": true, "_ZTV5Shape": true, "_ZNSt6locale7classicE": true, "_ZZNSt6locale7classicEvE1x": true,
		"_ZN9__gnu_cxx12__atomic_addE": true,
	} {
		assert.Equal(t, want, ofImplementation(symbol), symbol)
	}
}

func TestReadable(t *testing.T) {
	for _, c := range []struct {
		symbol string
		d      *declaration
		want   string
	}{
		{"rank", nil, "rank"}, {"calls.0", nil, "calls"}, {"calls.1234", &declaration{name: "calls", function: "f"}, "f()::calls"},
		{"table.lto_priv.0", nil, "table"}, {"__grid_MOD_cells", nil, "grid::cells"}, {"__solid.inner_MOD_x", nil, "solid.inner::x"},
		{"block_", nil, "block_"}, {"block_", &declaration{name: "block", common: true}, "common /block/"}, {"__BLNK__", nil, "blank common"},
		{"_ZN6solver4stepE", &declaration{name: "step"}, "solver::step"}, {"_Zmalformed", nil, "_Zmalformed"}, {"_ZL5titleB5cxx11", nil, "title"},
	} {
		assert.Equal(t, c.want, readable(c.symbol, c.d))
	}
}
