// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"os"
	"path/filepath"
	"testing"
)

// StandardLibraries returns the files of the MPI libraries with the standard ABI that are installed. Where there are none,
// the test is skipped, also in CI.
func StandardLibraries(t testing.TB) []string {
	t.Helper()
	libraries, err := filepath.Glob("/usr/lib/*/libmpi_abi_*.so.1.*")
	if err != nil {
		t.Fatal(err)
	}
	if len(libraries) == 0 {
		t.Skip("no MPI library with the standard ABI is installed: Debian has some from version 14 on")
	}
	return libraries
}

// CCStandard compiles a flat program for the standard ABI as CC does, linked with one of the libraries, as the compiler
// commands of the libraries would. Whichever of them ld.so finds serves it.
func CCStandard(t testing.TB, compiler, src, library string, flags ...string) string {
	t.Helper()
	headers, err := filepath.Glob("/usr/lib/*/mpi_abi_mpich/include")
	if err != nil || len(headers) == 0 {
		Unable(t, "the header of the standard ABI of libmpich-dev is not installed")
	}
	return CC(t, compiler, src, append(flags, "-fPIE", "-pie", "-I"+headers[0], "-DMPICH_SKIP_MPICXX", library)...)
}

// FirstFor returns the setting by which ld.so finds a library by its name for programs of the standard ABI.
func FirstFor(t testing.TB, library string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(library, filepath.Join(folder, "libmpi_abi.so.1")); err != nil {
		t.Fatal(err)
	}
	return "LD_LIBRARY_PATH=" + folder
}
