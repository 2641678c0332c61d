// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/pmi"
)

// Whether PMIx serves ranks follows from their library, unless the user says which PMI it is.
func TestNeedsPMIx(t *testing.T) {
	standard := func(p mpilib.Protocol) Library {
		return Library{Name: soname.StandardABI, Path: "/l/libmpi_abi.so.1", protocol: p}
	}
	for name, c := range map[string]struct {
		version string
		library Library
		why     string
	}{
		"none":                         {"", Library{}, ""},
		"MPICH":                        {"", Library{Name: "libmpich.so.12"}, ""},
		"Open MPI":                     {"", Library{Name: "libmpi.so.40"}, "it is linked with Open MPI (libmpi.so.40), which needs PMIx"},
		"standard ABI, PMI":            {"", standard(mpilib.PMI), ""},
		"standard ABI, unknown":        {"", standard(mpilib.UnknownProtocol), ""},
		"standard ABI, PMIx":           {"", standard(mpilib.PMIx), "its MPI library /l/libmpi_abi.so.1 needs PMIx"},
		"MPICH, PMIx":                  {"", Library{Name: "libmpich.so.12", Path: "/l/libmpich.so.12", protocol: mpilib.PMIx}, "its MPI library /l/libmpich.so.12 needs PMIx"},
		"standard ABI, PMIx, but told": {"2", standard(mpilib.PMIx), ""},
		"MPICH, but told":              {"x", Library{Name: "libmpich.so.12"}, "-pmi x wants PMIx"},
	} {
		assert.Equal(t, c.why, needsPMIx(plan.Host{PMI: plan.PMIOptions{Version: c.version}}, c.library), name)
	}
}

// Thread ranks are clients of PMIx only over a library that has the standard ABI and speaks it.
func TestRefuseThreads(t *testing.T) {
	for name, c := range map[string]struct {
		library Library
		refused bool
	}{
		"Open MPI":           {Library{Name: "libmpi.so.40"}, true},
		"standard ABI, PMIx": {Library{Name: soname.StandardABI, protocol: mpilib.PMIx}, false},
		"standard ABI, PMI":  {Library{Name: soname.StandardABI, protocol: mpilib.PMI}, true},
	} {
		e := Executable{Library: c.library, PMIx: true}
		host := plan.Host{World: pmi.World{Size: 4}, PMI: plan.PMIOptions{Version: "x"}}
		assert.Equal(t, c.refused, e.refuseThreads(host, plan.Program{PerProcess: 2}) != nil, name)
		assert.NoError(t, e.refuseThreads(host, plan.Program{PerProcess: 1}), name)
		assert.True(t, e.PMIx, name)
	}
}

// What another launcher serves is what the ranks' MPI library has to speak.
func TestCheckLauncher(t *testing.T) {
	openMPI, mpich, none := Library{Name: "libmpi.so.40"}, Library{Name: "libmpich.so.12", SpeaksPMI: true}, Library{}
	for _, c := range []struct {
		launcher string
		library  Library
		size     int
		served   bool // by PMIx
		refusal  string
	}{
		{"PMI", mpich, 4, false, ""},
		{"PMI", none, 4, false, ""},
		{"PMI", openMPI, 4, false, "it is linked with Open MPI (libmpi.so.40), which needs PMIx, and the launcher offers PMI; start with srun --mpi=pmix or tpsl's mpiexec"},
		{"PMI", openMPI, 1, false, ""},
		{"PMIx", openMPI, 4, true, ""},
		{"PMIx", none, 4, true, ""},
		{"PMIx", mpich, 4, true, "its MPI library (libmpich.so.12) speaks PMI, and the launcher PMIx; start with srun --mpi=pmi2 or tpsl's mpiexec"},
	} {
		e := Executable{Library: c.library}
		err := e.servePMIx(plan.Host{World: pmi.World{Size: c.size}, PMI: plan.PMIOptions{Launcher: c.launcher}})
		if c.refusal != "" {
			assert.EqualError(t, err, c.refusal)
			continue
		}
		assert.NoError(t, err, "%+v", c)
		assert.Equal(t, c.served, e.PMIx, "%+v", c)
	}
}
