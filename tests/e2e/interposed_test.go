// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// flatAndPrivate runs two ranks as processes, then in one address space, and requires the
// same of both. It returns the lines of the second on stdout and stderr.
func flatAndPrivate(t *testing.T, env []string, options string, program ...string) []string {
	t.Helper()
	want := mpiexec(t, env, "-n 2 "+options, program...)
	got := mpiexec(t, env, "-n 2 -rpp 2 -tpsl private "+options, program...)
	assert.Equal(t, want.code, got.code, got.stderr)
	assert.Equal(t, inAnyOrder(want.stderr), inAnyOrder(got.stderr))
	assert.Equal(t, want.lines(), got.lines())
	return slices.Concat(got.lines(), inAnyOrder(got.stderr))
}

// A tool in front of functions of libc is entered as in a flat rank: preloaded, linked or in the
// program itself, linked with MPI or not.
func TestPrivateInterposed(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, mpi := range [][]string{nil, {"-DMPI"}} {
		compiler := "gcc"
		if mpi != nil {
			compiler = "mpicc.mpich"
		}
		build := func(source string, flags ...string) string {
			return testsupport.CC(t, compiler, "testdata/"+source, slices.Concat(flags, mpi, []string{"-O1", "-fno-builtin", "-fPIC", "-pthread"})...)
		}
		tool := build("wraps.c", "-shared")
		own := build("wrapped.c", "-shared", "-DLIBRARY")
		with := func(more ...string) string {
			return build("wrapped.c", append(more, own, "-Wl,--no-as-needed,-rpath,"+filepath.Dir(own))...)
		}
		linked := with("-Wl,--no-as-needed", tool, "-Wl,-rpath,"+filepath.Dir(tool))
		for _, c := range []struct{ name, options, program string }{
			{"preloaded", "-genv LD_PRELOAD " + tool, with()},
			{"linked", "", linked},
			{"program", "", with("-rdynamic", "-Wl,"+build("wraps.c", "-c"))},
		} {
			t.Run(fmt.Sprint(c.name, mpi), func(t *testing.T) {
				// In a flat rank UCX's hook would stand in the tool's munmap, in place of it.
				lines := flatAndPrivate(t, []string{"UCX_MEM_EVENTS=n"}, c.options, c.program)
				assert.Contains(t, lines, "end: 2 pthread_create, 2 pthread_join, 2 malloc, 0 free, 2 puts, 2 munmap\n")
			})
		}
	}
}

// A tool that stands in front of free may have a heap of its own, which libc must use too:
// there is one copy of it, for all ranks, and each enters it.
func TestPrivateHeap(t *testing.T) {
	testsupport.NothingLeft(t)
	own := testsupport.CC(t, "gcc", "testdata/wrapped.c", "-shared", "-fPIC", "-DLIBRARY")
	build := func(more ...string) string {
		return testsupport.CC(t, "gcc", "testdata/wrapped.c", append(more, own, "-Wl,-rpath,"+filepath.Dir(own), "-pthread")...)
	}
	mallocs := library(t, "mallocs", "-O1", "-fno-builtin")
	counts := testsupport.CC(t, "gcc", "testdata/wraps.c", "-shared", "-fPIC", "-O1", "-fno-builtin", "-DFREE")
	t.Run("preloaded", func(t *testing.T) { flatAndPrivate(t, nil, "-genv LD_PRELOAD "+mallocs, build()) })
	t.Run("linked", func(t *testing.T) {
		flatAndPrivate(t, nil, "", build("-Wl,--no-as-needed", mallocs, "-Wl,-rpath,"+filepath.Dir(mallocs)))
	})
	t.Run("behind a tool", func(t *testing.T) {
		tool := testsupport.CC(t, "gcc", "testdata/wraps.c", "-shared", "-fPIC", "-O1", "-fno-builtin")
		flatAndPrivate(t, nil, "-genv LD_PRELOAD "+tool+":"+mallocs, build())
	})
	t.Run("counts", func(t *testing.T) {
		job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl private -genv LD_PRELOAD "+counts, build())
		assert.Zero(t, job.code)
		assert.Contains(t, job.stderr, ", 4 malloc, 4 free, 4 puts, ", "of both ranks")
	})
	t.Run("children", func(t *testing.T) {
		lines := flatAndPrivate(t, nil, "-genv LD_PRELOAD "+mallocs, "/bin/bash", "-c", "env | grep ^LD_PRELOAD=")
		assert.Contains(t, lines, "LD_PRELOAD="+mallocs+"\n")
	})
}

// A function is the same one, whoever asks for it.
func TestPrivateSameFunctions(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "gcc", "testdata/same_function.c", "-fno-builtin", "-fPIC")
	assert.Equal(t, []string{"0 others\n", "0 others\n"}, flatAndPrivate(t, nil, "", program))
}
