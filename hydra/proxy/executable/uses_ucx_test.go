// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Only where UCX's variables mean something for certain are ranks refused.
func TestUsesUCX(t *testing.T) {
	const source = "../../../tests/rdma/testdata/lost.c"
	flat, threads := testsupport.CC(t, "mpicc.mpich", source), testsupport.CC(t, "tpslcc", source)
	for name, c := range map[string]struct {
		executable Executable
		env        []string
		want       bool
	}{
		"flat":                        {Executable{Path: flat}, nil, true},
		"Open MPI":                    {Executable{Path: flat, PMIx: true}, nil, false},
		"private":                     {Executable{Path: flat, sharing: sharing{privateHost: threads}}, nil, true},
		"threads":                     {Executable{Path: threads}, nil, true},
		"threads, MPICH by name":      {Executable{Path: threads}, []string{"TPSL_MPI_LIBRARY=libmpich.so.12"}, true},
		"threads, without UCX":        {Executable{Path: threads}, []string{"TPSL_MPI_LIBRARY=libc.so.6"}, false},
		"threads, no such library":    {Executable{Path: threads}, []string{"TPSL_MPI_LIBRARY=/none.so"}, false},
		"a script":                    {Executable{Path: source}, nil, false},
		"a program that knows no MPI": {Executable{Path: "/bin/true"}, nil, false},
	} {
		assert.Equal(t, c.want, c.executable.UsesUCX(c.env, "/"), name)
	}
}
