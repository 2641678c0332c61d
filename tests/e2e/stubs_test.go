// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/tpsl/names"
)

// libtpsl opens the library that programs are linked with.
func libtpsl(t *testing.T) *elf.File {
	t.Helper()
	f, err := elf.Open(built(t, "lib/libtpsl.so.0"))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

const nameList = "../../tpsl/names/mpich.names"

// threadLocal returns the offset of a variable in libtpsl's TLS segment.
func threadLocal(t *testing.T, name string) string {
	t.Helper()
	symbols, err := libtpsl(t).Symbols()
	require.NoError(t, err)
	at := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	require.GreaterOrEqual(t, at, 0, "libtpsl.so.0 has no symbol %s", name)
	require.Equal(t, elf.STT_TLS, elf.ST_TYPE(symbols[at].Info))
	return fmt.Sprint(symbols[at].Value)
}

// Every exported name jumps through its own entry of the thread's table, and every
// instance's table holds that instance's functions.
func TestStubs(t *testing.T) {
	testsupport.NothingLeft(t)
	list, err := filepath.Abs(nameList)
	require.NoError(t, err)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "stubs"), list, threadLocal(t, "tpsl_table")).succeeded(t)
	lines := names.Stubs()
	all, has := slices.Concat(lines...), functionsOf(t, mpich(t))
	lacks := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return has[name] != 0 })
	assert.Equal(t, fmt.Sprintf("%d names, %d stubs, 0 wrong, the library lacks %d\n", len(all), len(lines), len(lacks)), job.stdout)
}

// The code of a stub of MPI is in one cache line, wherever the linker puts the stubs.
func TestStubsInCacheLines(t *testing.T) {
	const line, stub = 64, 22 // bytes
	symbols, err := libtpsl(t).DynamicSymbols()
	require.NoError(t, err)
	stubs := slices.Concat(names.Stubs()...)
	found := 0
	for _, s := range symbols {
		if slices.Contains(stubs, s.Name) {
			assert.LessOrEqual(t, s.Value%line+stub, uint64(line), s.Name)
			found++
		}
	}
	assert.Equal(t, len(stubs), found)
}

// Every name but the runtime's own passes arguments and results on, in registers and on
// the stack, with and without the way through TPSL_CHECK=1.
func TestArguments(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "arguments", "-I../../endpoints", "-I../../tpsl")
	list, err := filepath.Abs(nameList)
	require.NoError(t, err)
	for _, env := range [][]string{nil, checking} {
		job := run(t, env, program, list, threadLocal(t, "tpsl_self")).succeeded(t)
		assert.Equal(t, fmt.Sprintf("%d names, 0 wrong, the clock goes on\n", len(slices.Concat(names.Stubs()...))), job.stdout)
	}
}

// ownNames are the functions that tpsl.h declares.
func ownNames(t *testing.T) (names []string) {
	t.Helper()
	header, err := os.ReadFile("../../include/tpsl.h")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^[a-z]+ \*?(TPSL_\w+)\(`).FindAllSubmatch(header, -1) {
		names = append(names, string(m[1]))
	}
	require.NotEmpty(t, names)
	return names
}

// The library exports what programs need and nothing of Go.
func TestExports(t *testing.T) {
	f := libtpsl(t)
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	var exported []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			exported = append(exported, s.Name)
		}
	}
	want := slices.Concat(slices.Concat(names.Stubs()...), names.Data, ownNames(t), names.Fronts, names.ForStandIns)
	slices.Sort(exported)
	slices.Sort(want)
	assert.Equal(t, want, exported)

	soname, err := f.DynString(elf.DT_SONAME)
	require.NoError(t, err)
	assert.Equal(t, []string{"libtpsl.so.0"}, soname)
}

// functionsOf returns the addresses of the functions that a library exports.
func functionsOf(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	file, err := image.Open(path)
	require.NoError(t, err)
	defer file.Close()
	addresses := map[string]uint64{}
	for s := range file.Exports() {
		if s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC {
			addresses[s.Name] = s.Value
		}
	}
	return addresses
}

// The committed list has all that the installed MPICH exports. Names of one stub share an address in it. The names of its
// own version are there, and those of later versions are not. Names of older ones may have gone.
func TestNamesAreMPICHs(t *testing.T) {
	version := mpichVersion(t)
	has := functionsOf(t, mpich(t))
	listed := map[string]bool{}
	for _, s := range names.List() {
		addresses := map[uint64]bool{}
		for _, name := range s.Names {
			listed[name] = true
			addresses[has[name]] = true
			switch {
			case newer(t, s.Since, version):
				assert.Zero(t, has[name], "%s is of version %s, the library of %s", name, s.Since, version)
			case !newer(t, version, s.Since):
				assert.NotZero(t, has[name], "%s is of version %s, the library of %s", name, s.Since, version)
			}
		}
		assert.Len(t, addresses, 1, "%v do not share an address", s.Names)
	}
	for name := range has {
		ofMPI := strings.HasPrefix(name, "MPI") || names.MayCall(name) // MPICH 5 also exports a function that stands in front of another library's
		assert.True(t, listed[name] || !ofMPI, "%s is not on the list", name)
	}
}

// mpichVersion returns the version of the installed MPICH, which its header tells.
func mpichVersion(t *testing.T) string {
	t.Helper()
	defined := run(t, nil, "mpicc.mpich", "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null").succeeded(t).stdout
	found := regexp.MustCompile(`(?m)^#define MPICH_VERSION "(.*)"$`).FindStringSubmatch(defined)
	require.NotNil(t, found)
	return found[1]
}

// newer reports whether version a, as in 4.2, is above b, as in 4.0.2.
func newer(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y [2]int
	for text, to := range map[string]*[2]int{a: &x, b: &y} {
		_, err := fmt.Sscanf(text, "%d.%d", &to[0], &to[1])
		require.NoError(t, err, text)
	}
	return slices.Compare(x[:], y[:]) > 0
}
