// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/search"
)

// changed writes a copy of a file that edit has worked on.
func changed(t *testing.T, path, name string, edit func([]byte) []byte) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(copied, edit(data), 0o755))
	return copied
}

// mpich returns the file of the MPI library that programs run on.
func mpich(t *testing.T) string {
	t.Helper()
	closure, err := search.New("").Closure(flat(t, "../../examples/hello.c"))
	require.NoError(t, err)
	defer closure.Close()
	library := closure.Find("libmpich.so.12")
	if library == nil {
		testsupport.Unable(t, "mpicc.mpich links another library than libmpich.so.12")
	}
	return library.Path
}

// openMPI returns Open MPI's library, or one that looks like it.
func openMPI(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*/libmpi.so.40")
	if len(found) > 0 {
		return found[0]
	}
	return library(t, "fake_openmpi")
}

func forARM(elfFile []byte) []byte {
	elfFile[18] = byte(elf.EM_AARCH64) // e_machine
	return elfFile
}

// An MPI library that cannot be used is named, with what is wrong with it.
func TestLibraryRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	require.NoError(t, os.WriteFile(text, []byte("GROUP ( libmpich.so.12 )\n"), 0o666))
	small := library(t, "missing_symbol")
	other := changed(t, small, "other.so", forARM)
	short := changed(t, mpich(t), "short.so", func(b []byte) []byte { return b[:5000] })

	program := fixture(t, "brief")
	for _, c := range []struct {
		name, library string
		says          []string
	}{
		{"missing file", "/nowhere/libmpich.so.12", []string{"TPSL_MPI_LIBRARY=/nowhere/libmpich.so.12", "not found"}},
		{"missing name", "libnowhere.so.12", []string{"TPSL_MPI_LIBRARY=libnowhere.so.12", "not found"}},
		{"not ELF", text, []string{"TPSL_MPI_LIBRARY=" + text, "not an ELF file"}},
		{"a directory", "/usr/lib/", []string{"TPSL_MPI_LIBRARY=/usr/lib/", "not a regular file"}},
		{"other machine", other, []string{"TPSL_MPI_LIBRARY=" + other, "not for x86-64"}},
		{"truncated", short, []string{"TPSL_MPI_LIBRARY=" + short, "file too short"}},
		{"Open MPI", openMPI(t), []string{openMPI(t) + " is Open MPI", "MPICH ABI in TPSL_MPI_LIBRARY"}},
		{"not MPI", "libm.so.6", []string{"libm.so.6 is not an MPI library", "no PMPI_Init"}},
		{"missing symbol", small, []string{small + ": symbol nobody_has_this", "TPSL_MPI_LIBRARY can name another"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + c.library}, "-n 2 -rpp 2", program)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl", append(c.says, "rank ")...)
		})
	}
}
