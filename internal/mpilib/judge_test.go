// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mpilib_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/loader/search"
)

// Symbols and needed libraries tell what a library is, whatever its name.
func TestOf(t *testing.T) {
	const openMPI = `int ompi_mpi_init(void) { return 0; } const char ompi_version_string[] = "1.2";`
	below := made(t, openMPI, "-Wl,-soname,libopen_mpi.so.40")
	folder := filepath.Dir(below)
	require.NoError(t, os.Symlink(below, filepath.Join(folder, "libopen_mpi.so.40")))
	overOpenMPI := []string{"-Wl,--no-as-needed", below, "-Wl,-rpath," + folder}
	pmix := made(t, "int PMIx_Init;", "-Wl,-soname,libpmix.so.2")
	require.NoError(t, os.Symlink(pmix, filepath.Join(filepath.Dir(pmix), "libpmix.so.2")))
	overPMIx := []string{"-Wl,--no-as-needed", pmix, "-Wl,-rpath," + filepath.Dir(pmix)}
	const mpich, standard = "int PMPI_Init;", "int PMPI_Init, PMPI_Abi_get_version;"
	for name, c := range map[string]struct {
		text  string
		flags []string
		want  mpilib.Library
	}{
		"MPICH": {mpich + `const char MPII_Version_string[] = "9.8.7"; const char *v(void) { return "PMI_FD"; }`, nil,
			mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH, Version: "9.8.7", Protocol: mpilib.PMI}},
		"MPICH, unversioned": {mpich, nil, mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH}},
		"version a function": {mpich + "void MPII_Version_string(void) {}", nil, mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH}},
		"MPICH over PMIx":    {mpich, overPMIx, mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH, Protocol: mpilib.PMIx}},
		"MPICH of MPI 5":     {standard + "int PMPI_Comm_c2f;", nil, mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH}},
		"MPICH by the name of the standard ABI": {mpich, []string{"-Wl,-soname,libmpi_abi.so.1"},
			mpilib.Library{ABI: mpilib.MPICH, Implementation: mpilib.OfMPICH}},
		"standard, of nobody known": {standard, nil, mpilib.Library{ABI: mpilib.Standard}},
		"standard, of MPICH": {standard + `const char *v(void) { return "MPICH Version: PMI_FD"; }`, nil,
			mpilib.Library{ABI: mpilib.Standard, Implementation: mpilib.OfMPICH, Protocol: mpilib.PMI}},
		"standard, of Open MPI": {standard, overOpenMPI,
			mpilib.Library{ABI: mpilib.Standard, Implementation: mpilib.OfOpenMPI, Version: "1.2", Protocol: mpilib.PMIx}},
		"Open MPI": {"int PMPI_Init;" + openMPI, nil,
			mpilib.Library{ABI: mpilib.OpenMPI, Implementation: mpilib.OfOpenMPI, Version: "1.2", Protocol: mpilib.PMIx}},
		"Open MPI 6": {standard + "int PMPI_Comm_c2f;", overOpenMPI,
			mpilib.Library{ABI: mpilib.OpenMPI, Implementation: mpilib.OfOpenMPI, Version: "1.2", Protocol: mpilib.PMIx}},
		"not MPI": {"int MPI_Init;", nil, mpilib.Library{ABI: mpilib.NotMPI}},
	} {
		t.Run(name, func(t *testing.T) {
			path := made(t, c.text, c.flags...)
			link := filepath.Join(t.TempDir(), "libmpi.so.12")
			require.NoError(t, os.Symlink(path, link))
			l, err := mpilib.Of(link, search.New(""))
			require.NoError(t, err)
			c.want.Path = path
			assert.Equal(t, c.want, l)
		})
	}
}

// A library that lacks another one is judged by itself, with an error. What is not there has an error only.
func TestOfIncomplete(t *testing.T) {
	missing := made(t, "int other;", "-Wl,-soname,libnobodyhas.so.1")
	path := made(t, "int PMPI_Init;", "-Wl,--no-as-needed", missing)
	l, err := mpilib.Of(path, search.New(""))
	assert.ErrorContains(t, err, "libnobodyhas.so.1")
	assert.Equal(t, mpilib.MPICH, l.ABI)
	_, err = mpilib.Of("/nowhere/libmpi.so", search.New(""))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Functions tell the version of the standard.
func TestStandardVersion(t *testing.T) {
	for text, want := range map[string][2]int{
		"int PMPI_Abi_get_version, PMPI_Buffer_flush, PMPI_Session_init;": {5, 0},
		"int PMPI_Buffer_flush, PMPI_Session_init;":                       {4, 1},
		"int PMPI_Session_init;":                                          {4, 0},
		"int PMPI_Neighbor_alltoallw;":                                    {3, 0},
		"int PMPI_Init;":                                                  {2, 2},
	} {
		major, minor, err := mpilib.StandardVersion(made(t, text))
		require.NoError(t, err)
		assert.Equal(t, want, [2]int{major, minor}, text)
	}
	_, _, err := mpilib.StandardVersion("/nowhere/libmpi.so")
	assert.Error(t, err)
}
