// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/library"
)

// made compiles C text into a shared library.
func made(t *testing.T, text string, flags ...string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "made.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	return testsupport.CC(t, "gcc", source, append([]string{"-shared", "-fPIC"}, flags...)...)
}

func TestABI(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		abi     library.ABI
		version string
	}{
		"MPICH":              {`int PMPI_Init(void) { return 0; } const char MPII_Version_string[] = "9.8.7";`, library.MPICH, "9.8.7"},
		"MPICH, unversioned": {`int PMPI_Init(void) { return 0; }`, library.MPICH, ""},
		"version a function": {`int PMPI_Init(void) { return 0; } void MPII_Version_string(void) {}`, library.MPICH, ""},
		"Open MPI":           {`int PMPI_Init(void) { return 0; } int ompi_mpi_init(void) { return 0; } const char ompi_version_string[] = "1.2";`, library.OpenMPI, "1.2"},
		"not MPI":            {`int MPI_Init(void) { return 0; }`, library.NotMPI, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := image.Open(made(t, c.text))
			require.NoError(t, err)
			defer m.Close()
			assert.Equal(t, c.abi, library.ABIOf(m))
			assert.Equal(t, c.version, library.Version(m))
		})
	}
}

// A stand-in has no symbols of its own; what it stands for is libtpsl.
func TestStandIn(t *testing.T) {
	path := made(t, "", "-Wl,-soname,libmpich.so.12", "-Wl,--auxiliary=libtpsl.so.0")
	m, err := image.Open(path)
	require.NoError(t, err)
	defer m.Close()
	assert.Equal(t, library.StandIn, library.ABIOf(m))
	_, err = library.Find(path, nil, func(name string) (string, error) { return name, nil })
	assert.ErrorContains(t, err, path+" is a stand-in that leads back to libtpsl")
	assert.ErrorContains(t, err, "name a library with the MPICH ABI")

	// By its name it is passed over.
	dir := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "libstandin.so")))
	_, err = library.Finder(search.New(dir), nil)("libstandin.so")
	assert.ErrorIs(t, err, search.ErrNotFound)
}

// The first default wins; one that is there and is no MPI library is not passed over.
func TestFind(t *testing.T) {
	mpich, other := made(t, "int PMPI_Init(void) { return 0; }"), made(t, "int other;")
	for name, c := range map[string]struct {
		asked  string
		needed []string
		files  map[string]string
		path   string
		says   []string
	}{
		"asked":            {"mine", nil, map[string]string{"mine": mpich, "libmpich.so.12": other}, mpich, nil},
		"asked, not there": {"mine", nil, map[string]string{"libmpich.so.12": mpich}, "", []string{"TPSL_MPI_LIBRARY=mine: no mine;"}},
		"first":            {"", nil, map[string]string{"libmpich.so.12": mpich, "libmpi.so.12": other}, mpich, nil},
		"second":           {"", nil, map[string]string{"libmpi.so.12": mpich}, mpich, nil},
		"needed":           {"", []string{"libc.so.6", "libmpi.so.12"}, map[string]string{"libmpich.so.12": other, "libmpi.so.12": mpich}, mpich, nil},
		"all needed":       {"", []string{"libmpi.so.12", "libmpich.so.12"}, map[string]string{"libmpich.so.12": mpich, "libmpi.so.12": other}, mpich, nil},
		"needed, absent":   {"", []string{"libmpi.so.12"}, map[string]string{"libmpich.so.12": mpich}, mpich, nil},
		"first is no MPI":  {"", nil, map[string]string{"libmpich.so.12": other, "libmpi.so.12": mpich}, "", []string{other, "is not an MPI library"}},
		"none":             {"", nil, nil, "", []string{"no MPI library: no libmpich.so.12; install MPICH"}},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := library.Find(c.asked, c.needed, func(name string) (string, error) {
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
