// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A PMPI tool, in the program or in front of it, sees every call of every rank once,
// however MPI_Init is called.
func TestTool(t *testing.T) {
	source, err := filepath.Abs("testdata/tool.c")
	assert.NoError(t, err)
	shared := testsupport.CC(t, "tpslcc", "testdata/tool.c", "-shared", "-fPIC")
	for _, form := range []string{"TWO", "THREE", "ADDRESS", "THREAD"} {
		for _, c := range []struct {
			name    string
			program string
			options string
		}{
			{"linked", fixture(t, "sends", "-D"+form, source), "-n 2 -rpp 2"},
			{"library", fixture(t, "sends", "-D"+form, shared, "-Wl,-rpath,"+filepath.Dir(shared)), "-n 2 -rpp 2"},
			{"preloaded", fixture(t, "sends", "-D"+form), "-genv LD_PRELOAD " + shared + " -n 2 -rpp 2"},
		} {
			t.Run(form+" "+c.name, func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, nil, c.options, c.program).succeeded(t)
				assert.Equal(t, "tool: 2 inits, 6 sends, 2 finalizes\n", job.stdout)
			})
		}
	}
}

// In private mode each rank has a tool of its own, as a flat process has.
func TestPrivateTool(t *testing.T) {
	testsupport.NothingLeft(t)
	tool := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-shared", "-fPIC")
	program := plain(t, "mpicc.mpich", "alone.c")
	options := "-genv LD_PRELOAD " + tool + " -n 2"
	want := mpiexec(t, nil, options, program, "return").succeeded(t)
	assert.Contains(t, want.stdout, "tool: 1 inits, 0 sends, 1 finalizes\n")
	assert.Equal(t, want.lines(), mpiexec(t, nil, options+" -rpp 2", program, "return").succeeded(t).lines())
}
