// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// CMake's own FindMPI, told the wrappers, and find_package(tpsl) each make programs
// in C, C++ and Fortran whose threads are ranks.
func TestCMake(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "cmake", "g++", "gfortran")
	prefix, build := installed(t), t.TempDir()
	cmake := func(args ...string) (said string) {
		t.Run(args[0], func(t *testing.T) { // a step of its own, so that a slow machine shows progress
			stdout, stderr, code := testsupport.Run(t, 5*time.Minute, nil, append([]string{"cmake"}, args...)...)
			require.Zero(t, code, "cmake %v\nstdout:\n%s\nstderr:\n%s", args, stdout, stderr)
			said = stdout
		})
		return said
	}
	said := cmake("-S", "testdata/cmake", "-B", build, "-DCMAKE_PREFIX_PATH="+prefix, "-DMPI_C_COMPILER="+prefix+"/bin/tpslcc",
		"-DMPI_CXX_COMPILER="+prefix+"/bin/tpslcxx", "-DMPI_Fortran_COMPILER="+prefix+"/bin/tpslfort")
	assert.Contains(t, said, "\n-- Found tpsl: "+prefix+" (version "+makeVersion(t)+"), launcher "+prefix+"/bin/mpiexec\n")
	assert.NotContains(t, cmake("-S", "testdata/cmake", "-B", build), "Found tpsl", "said once")
	assert.Contains(t, said, "MPI 4.0 4.0 4.0, mpiexec "+prefix+"/bin/mpiexec, "+prefix+"/bin/mpiexec")
	cmake("--build", build)

	programs := []string{"folders-tpsl"}
	for _, program := range []string{"c", "cxx", "mpif", "mpi", "mpi_f08"} {
		programs = append(programs, program+"-MPI", program+"-tpsl")
	}
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			job := run(t, nil, prefix+"/bin/mpiexec", "-n", "2", "-rpp", "2", build+"/"+program)
			assert.Equal(t, []string{"rank 0, slot 0, sum 1\n", "rank 1, slot 1, sum 1\n"}, slices.Sorted(strings.Lines(job)))
		})
	}
}

// A version of tpsl serves whoever asks for an earlier one of the same series.
func TestCMakeVersions(t *testing.T) {
	testsupport.Require(t, "cmake")
	file := testsupport.Build(t) + "/lib/cmake/tpsl/tpsl-config-version.cmake"
	version := makeVersion(t)
	for _, c := range []struct{ asked, compatible, exact string }{
		{version, "TRUE", "TRUE"}, {"0.1", "TRUE", "TRUE"}, {"0.0.9", "", ""},
		{"0.1.99", "", ""}, {"0", "", ""}, {"0.2", "", ""}, {"1.0", "", ""}, {"0.10", "", ""},
	} {
		script := t.TempDir() + "/ask.cmake"
		writeFile(t, script, `set(PACKAGE_FIND_VERSION `+c.asked+`)
include(`+file+`)
message(STATUS "${PACKAGE_VERSION}/${PACKAGE_VERSION_COMPATIBLE}/${PACKAGE_VERSION_EXACT}")`)
		assert.Equal(t, "-- "+version+"/"+c.compatible+"/"+c.exact+"\n", run(t, nil, "cmake", "-P", script), c.asked)
	}
}
