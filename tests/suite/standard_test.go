// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// standardDiffers are programs that do not end well over a library, flat or not. In MPICH 5.0.2 a call returns MPI_SUCCESS after the
// program's own handler has had its error. Open MPI 6 makes a communicator from a group by groups of PMIx, which tpsl does not serve.
var standardDiffers = map[string][]string{
	"libmpi_abi_mpich":   {"cxx/err"},
	"libmpi_abi_openmpi": {"cxx/info"},
}

// One executable for the standard ABI has the same results over each library that has it, whoever made the library, and however its
// four ranks share processes. They are those of a flat program, as thread ranks and as private ranks.
func TestStandardABIIsAlike(t *testing.T) {
	libraries := testsupport.StandardLibraries(t)
	testsupport.NothingLeft(t)
	t.Setenv("OMPI_MCA_osc", "^ucx") // this part of Open MPI complains on stderr where it finds no device, also flat
	for _, area := range areas {
		t.Run(area, func(t *testing.T) {
			t.Parallel()
			standardIsAlike(t, "cxx/"+area, libraries)
		})
	}
}

func standardIsAlike(t *testing.T, name string, libraries []string) {
	t.Helper()
	source, flags := "testdata/"+name+".cc", []string{"-fopenmp", "-O1", "-Itestdata"}
	threads := testsupport.CC(t, "tpslcxx", source, append(flags, "-mpi=abi")...)
	p := program{testsupport.CCStandard(t, "g++", source, libraries[0], flags...), threads, t.TempDir()}
	var want outcome // flat, over the first library
	for _, library := range libraries {
		maker, _, _ := strings.Cut(filepath.Base(library), ".")
		differs, env := slices.Contains(standardDiffers[maker], name), []string{testsupport.FirstFor(t, library), "OMP_NUM_THREADS=1"}
		flat := p.runOurs(t, maker, env, "", p.flat)
		if differs {
			assert.NotZero(t, flat.code, "%s ends well over %s now", name, library)
		} else {
			flat.foundNothing(t, name)
			if want == (outcome{}) {
				want = flat
			}
			assert.Equal(t, want, flat, library)
		}
		for layout, got := range map[string]outcome{
			"1x4":     p.runOurs(t, maker+".4", []string{"TPSL_MPI_LIBRARY=" + library}, "-rpp 4", p.threads),
			"2x2":     p.runOurs(t, maker+".2", []string{"TPSL_MPI_LIBRARY=" + library}, "-rpp 2", p.threads),
			"4x1":     p.runOurs(t, maker+".1", []string{"TPSL_MPI_LIBRARY=" + library, "OMP_NUM_THREADS=1"}, "-rpp 1", p.threads),
			"private": p.runOurs(t, maker+".private", env, "-rpp 4", p.flat),
		} {
			if differs {
				got.stderr = flat.stderr // in an order of its own, with names of processes
			}
			assert.Equal(t, flat, got, "%s, %s", library, layout)
		}
	}
	require.NotEqual(t, outcome{}, want, "%s is well over no library", name)
}
