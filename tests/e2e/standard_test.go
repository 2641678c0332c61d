// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/search"
)

// standardLibrary returns a small library with the standard ABI.
func standardLibrary(t *testing.T, flags ...string) string {
	t.Helper()
	return library(t, "standard_library", append(flags, "-Wl,-soname,libmpi_abi.so.1")...)
}

// standardProgram compiles a program for the standard ABI, with the header that lies beside it.
func standardProgram(t *testing.T, flags ...string) string {
	t.Helper()
	header, err := filepath.Abs("testdata/standard")
	require.NoError(t, err)
	t.Setenv("TPSL_MPI_INCLUDE", header)
	return testsupport.CC(t, "tpslcc", "testdata/standard.c", append([]string{"-mpi=abi", "-fopenmp"}, flags...)...)
}

// A program for the standard ABI runs as thread ranks over a library that has it. It is linked with the stand-in for such a
// library, and with none for MPICH.
func TestStandardABI(t *testing.T) {
	testsupport.NothingLeft(t)
	program, env := standardProgram(t), []string{"TPSL_MPI_LIBRARY=" + standardLibrary(t)}
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	needed, err := f.ImportedLibraries()
	require.NoError(t, err)
	assert.Contains(t, needed, "libtpsl.so.0")
	assert.Contains(t, needed, "libmpi_abi.so.1")
	assert.False(t, slices.ContainsFunc(needed, func(name string) bool { return name == "libmpich.so.12" || name == "libmpi.so.12" }))

	job := mpiexec(t, env, "-n 4 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"slot 0 is rank 0 of 4\n", "slot 0 is rank 2 of 4\n", "slot 1 is rank 1 of 4\n", "slot 1 is rank 3 of 4\n"}, job.lines())
	for call, want := range map[string]string{"session": "session: 0, whole\n", "together": "together\n", "version": "MPI 5.0, ABI 1.0\n"} {
		for _, checked := range [][]string{nil, checking} {
			assert.Equal(t, want, run(t, slices.Concat(env, checked), program, call).succeeded(t).stdout)
		}
	}
}

// A program of one ABI with a library of another is one line that names the library and says what to do. So is a process that
// is linked with both, and a library that says that it has another version of the ABI.
func TestOtherABI(t *testing.T) {
	standard, standardOther, standardNone := standardLibrary(t), standardLibrary(t, "-DMAJOR=2"), standardLibrary(t, "-DMAJOR=-1")
	pmix := standardLibrary(t, "-DOPEN_MPI")
	mpich, program, both := fixture(t, "brief"), standardProgram(t), standardProgram(t, "-Wl,--no-as-needed", "-L"+built(t, "lib/tpsl"), "-l:libmpich.so.12")
	for _, c := range []struct {
		name, program, library string
		says                   []string
	}{
		{"MPICH's program, standard library", mpich, standard, []string{standard + " has the standard ABI", "built for MPICH's", "TPSL_MPI_LIBRARY", "tpslcc -mpi=abi"}},
		{"standard program, MPICH", program, "libmpich.so.12", []string{"libmpich.so.12", "has the MPICH ABI", "built for the standard ABI", "tpslcc -mpi=mpich"}},
		{"standard program, Open MPI", program, openMPI(t), []string{openMPI(t) + " is Open MPI", "standard ABI in TPSL_MPI_LIBRARY"}},
		{"standard program, no library", program, "/nowhere/libmpi_abi.so.1", []string{"TPSL_MPI_LIBRARY=/nowhere/libmpi_abi.so.1", "not found", "a library with the standard ABI"}},
		{"another version", program, standardOther, []string{standardOther + " says that it has version 2 of the standard ABI", "version 1", "TPSL_MPI_LIBRARY"}},
		{"none after all", program, standardNone, []string{standardNone + " says that it has version -1"}},
		{"another protocol", program, pmix, []string{pmix + " speaks PMIx (Open MPI)", "the launcher serves PMI", "each would be a job of one", "TPSL_MPI_LIBRARY"}},
		{"both", both, standard, []string{"linked with libmpich.so.12 (MPICH) and with libmpi_abi.so.1 (standard ABI)", "one MPI library"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + c.library}, "-n 2 -rpp 2", c.program)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl", append(c.says, "rank ")...)
		})
	}
}

// What tpslcc cannot do for the standard ABI is one line.
func TestStandardABIRefused(t *testing.T) {
	for _, c := range []struct {
		command string
		env     []string
		args    []string
		says    []string
	}{
		{"tpslcc", []string{"TPSL_MPI_INCLUDE=/nonexistent"}, []string{"-mpi=abi", "x.c"}, []string{"no mpi_abi.h or mpi.h of the standard ABI in /nonexistent", "TPSL_MPI_INCLUDE"}},
		{"tpslcc", nil, []string{"-mpi=openmpi", "x.c"}, []string{"-mpi=openmpi: want -mpi=mpich or -mpi=abi"}},
		{"tpslfort", nil, []string{"-mpi=abi", "x.f90"}, []string{"no libraries for Fortran; use -mpi=mpich"}},
	} {
		job := run(t, c.env, append([]string{built(t, "bin/"+c.command)}, c.args...)...)
		assert.Equal(t, 1, job.code)
		assert.Empty(t, job.stdout)
		oneLine(t, job, c.command, c.says...)
	}
}

// Each library with the standard ABI that is installed runs one program, whoever made the library. Where mpiexec does not serve
// what the library speaks, the program is refused and no rank is a job of one.
func TestInstalledStandardABI(t *testing.T) {
	libraries, err := filepath.Glob("/usr/lib/*/libmpi_abi_*.so.1.*")
	require.NoError(t, err)
	if len(libraries) == 0 {
		t.Skip("no MPI library with the standard ABI is installed: Debian has some from version 14 on")
	}
	program, sums := testsupport.CC(t, "tpslcc", "../../examples/halo.c", "-mpi=abi", "-fopenmp", "-O2"), map[string]bool{}
	for _, library := range libraries {
		judged, err := mpilib.Of(library, search.New(""))
		require.NoError(t, err)
		require.Equal(t, mpilib.Standard, judged.ABI, library)
		for ranks, layout := range map[int]string{1: "4 processes x 1 thread rank,", 2: "2 processes x 2 thread ranks", 4: "1 process x 4 thread ranks"} {
			t.Run(filepath.Base(library)+", "+layout, func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + library}, fmt.Sprintf("-n 4 -rpp %d", ranks), program)
				if judged.Protocol == mpilib.PMIx && job.code != 0 {
					oneLine(t, job, "tpsl", "speaks PMIx", "each would be a job of one")
					return
				}
				sums[checksum(t, job, layout)] = true
			})
		}
	}
	assert.Len(t, sums, 1, "checksums")
}
