// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mpilib_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// made compiles C text into a shared mpilib.
func made(t *testing.T, text string, flags ...string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "made.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	return testsupport.CC(t, "gcc", source, append([]string{"-shared", "-fPIC"}, flags...)...)
}

// A stand-in has no symbols of its own; what it stands for is libtpsl.
func TestStandIn(t *testing.T) {
	path := made(t, "", "-Wl,-soname,libmpich.so.12", "-Wl,--auxiliary=libtpsl.so.0")
	m, err := image.Open(path)
	require.NoError(t, err)
	defer m.Close()
	assert.Equal(t, mpilib.StandIn, mpilib.ABIOf(m))
	_, err = mpilib.Find(path, mpilib.MPICH, nil, func(name string) (string, error) { return name, nil })
	assert.ErrorContains(t, err, path+" is a stand-in that leads back to libtpsl")
	assert.ErrorContains(t, err, "name a library with the MPICH ABI")

	// By its name it is passed over.
	dir := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "libstandin.so")))
	_, err = mpilib.Finder(search.New(dir), nil)("libstandin.so")
	assert.ErrorIs(t, err, search.ErrNotFound)
}

// The first default wins; one that is there and is no MPI library is not passed over.
func TestFind(t *testing.T) {
	mpich, other, standard := made(t, "int PMPI_Init(void) { return 0; }"), made(t, "int other;"), made(t, "int PMPI_Init, PMPI_Abi_get_version;")
	openMPI := made(t, "int PMPI_Init, ompi_mpi_init;")
	for name, c := range map[string]struct {
		asked  string
		needed []string
		files  map[string]string
		path   string
		says   []string
		abi    mpilib.ABI // "": MPICH's
	}{
		"asked":            {"mine", nil, map[string]string{"mine": mpich, "libmpich.so.12": other}, mpich, nil, ""},
		"asked, not there": {"mine", nil, map[string]string{"libmpich.so.12": mpich}, "", []string{"TPSL_MPI_LIBRARY=mine: no mine;"}, ""},
		"first":            {"", nil, map[string]string{"libmpich.so.12": mpich, "libmpi.so.12": other}, mpich, nil, ""},
		"second":           {"", nil, map[string]string{"libmpi.so.12": mpich}, mpich, nil, ""},
		"needed":           {"", []string{"libc.so.6", "libmpi.so.12"}, map[string]string{"libmpich.so.12": other, "libmpi.so.12": mpich}, mpich, nil, ""},
		"all needed":       {"", []string{"libmpi.so.12", "libmpich.so.12"}, map[string]string{"libmpich.so.12": mpich, "libmpi.so.12": other}, mpich, nil, ""},
		"needed, absent":   {"", []string{"libmpi.so.12"}, map[string]string{"libmpich.so.12": mpich}, mpich, nil, ""},
		"first is no MPI":  {"", nil, map[string]string{"libmpich.so.12": other, "libmpi.so.12": mpich}, "", []string{other, "is not an MPI library"}, ""},
		"none":             {"", nil, nil, "", []string{"no MPI library: no libmpich.so.12; install MPICH"}, ""},

		"standard":                    {"", nil, map[string]string{"libmpich.so.12": mpich, "libmpi_abi.so.1": standard}, standard, nil, mpilib.Standard},
		"standard, asked":             {"mine", nil, map[string]string{"mine": standard, "libmpi_abi.so.1": other}, standard, nil, mpilib.Standard},
		"standard, none":              {"", nil, map[string]string{"libmpich.so.12": mpich}, "", []string{"no libmpi_abi.so.1; install an MPI library with the standard ABI"}, mpilib.Standard},
		"standard wanted, MPICH":      {"mine", nil, map[string]string{"mine": mpich}, "", []string{mpich + " has the MPICH ABI", "tpslcc -mpi=mpich"}, mpilib.Standard},
		"MPICH wanted, standard":      {"mine", nil, map[string]string{"mine": standard}, "", []string{standard + " has the standard ABI", "tpslcc -mpi=abi"}, ""},
		"MPICH by the standard name":  {"", nil, map[string]string{"libmpi_abi.so.1": mpich}, "", []string{mpich + " has the MPICH ABI"}, mpilib.Standard},
		"a program of Open MPI":       {"", nil, map[string]string{"libmpich.so.12": mpich}, "", []string{"the program is linked with Open MPI", "tpslcc"}, mpilib.OpenMPI},
		"Open MPI":                    {"mine", nil, map[string]string{"mine": openMPI}, "", []string{openMPI + " is Open MPI: its ABI is not MPICH's"}, ""},
		"Open MPI, the standard name": {"", nil, map[string]string{"libmpi_abi.so.1": openMPI}, "", []string{openMPI + " is Open MPI: its ABI is not the standard one"}, mpilib.Standard},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := mpilib.Find(c.asked, cmp.Or(c.abi, mpilib.MPICH), c.needed, func(name string) (string, error) {
				if c.files[name] == "" {
					return "", errors.New("no " + name)
				}
				return c.files[name], nil
			})
			if c.says == nil {
				require.NoError(t, err)
				assert.Equal(t, c.path, path)
			}
			for _, text := range c.says {
				assert.ErrorContains(t, err, text)
			}
		})
	}
}

// A program's libraries tell its ABI, and there is one.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		linked []string
		abi    mpilib.ABI
		says   string
	}{
		{[]string{"libtpsl.so.0", "libmpich.so.12", "libmpi.so.12"}, mpilib.MPICH, ""},
		{[]string{"libtpsl.so.0", "libmpi_abi.so.1"}, mpilib.Standard, ""},
		{[]string{"libc.so.6"}, mpilib.MPICH, ""},
		{[]string{"libmpi_abi.so.1", "libmpi.so.12"}, "", "linked with libmpi.so.12 (MPICH) and with libmpi_abi.so.1 (standard ABI), and a process has one MPI library"},
		{[]string{"libmpich.so.12", "libmpi.so.12", "libmpi_mpifh.so.40"}, "", "linked with libmpich.so.12 (MPICH) and with libmpi_mpifh.so.40 (Open MPI)"},
		{[]string{"libmpi.so.40"}, mpilib.OpenMPI, ""},
	} {
		abi, err := mpilib.Wanted(func(name string) bool { return slices.Contains(c.linked, name) })
		assert.Equal(t, c.abi, abi, c.linked)
		if c.says == "" {
			assert.NoError(t, err, c.linked)
		} else {
			assert.ErrorContains(t, err, c.says)
		}
	}
}
