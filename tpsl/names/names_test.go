// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStubs(t *testing.T) {
	stubs := Stubs()
	assert.Contains(t, stubs, []string{"MPI_Send", "PMPI_Send"})
	all := slices.Concat(stubs...)
	for _, n := range []string{"MPI_Init", "PMPI_Init", "MPI_Finalize", "MPIX_Comm_shrink", "QMPI_Get_function"} {
		assert.Contains(t, all, n)
	}
	for _, n := range Data {
		assert.NotContains(t, all, n)
	}
}

func TestParse(t *testing.T) {
	stubs, err := parse("# all\n\n4.0 MPI_A PMPI_A # one\n5.0 MPI_B\n")
	require.NoError(t, err)
	assert.Equal(t, []Stub{{"4.0", []string{"MPI_A", "PMPI_A"}}, {"5.0", []string{"MPI_B"}}}, stubs)
	_, err = parse("4.0 MPI_A PMPI_A\n4.0 MPI_A\n")
	assert.ErrorContains(t, err, "name MPI_A stands twice")
	for _, line := range []string{"MPI_A PMPI_A", "4.0"} {
		_, err = parse(line + "\n")
		assert.ErrorContains(t, err, "is not a version and names", line)
	}
}

func TestCompare(t *testing.T) {
	all := slices.Concat(Stubs()...)
	missing, extra := Compare(all)
	assert.Empty(t, missing)
	assert.Empty(t, extra)

	others := []string{
		"MPI_Newer", "PMPI_Newer", "MPIX_Newer", "PMPIX_Newer", "MPI_T_newer", "QMPI_Newer",
		"MPIR_inside", "MPII_inside", "MPID_Inside", "mpi_send_", "ucp_init", "MPI_SEND", "XMPI_Other",
	}
	lacks := []string{"MPI_Send", "MPIR_Dup_fn"}
	oldest := slices.DeleteFunc(List(), func(s Stub) bool { return s.Since != "4.0" })
	var names []string
	for _, s := range oldest {
		names = append(names, s.Names...)
	}
	missing, extra = Compare(names[1:])
	assert.Equal(t, names[:1], missing, "a library lacks none of the names of later versions")
	assert.Empty(t, extra)
	have := slices.DeleteFunc(slices.Concat(all, others), func(n string) bool { return slices.Contains(lacks, n) })
	missing, extra = Compare(have)
	assert.Equal(t, []string{"MPIR_Dup_fn", "MPI_Send"}, missing)
	assert.Equal(t, []string{"MPIX_Newer", "MPI_Newer", "MPI_T_newer", "PMPIX_Newer", "PMPI_Newer", "QMPI_Newer"}, extra)
}
