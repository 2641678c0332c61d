// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// secondThread requires that a job in private mode has ended because a second thread of a rank has called a function.
func secondThread(t *testing.T, job outcome, function string) {
	t.Helper()
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl")
	assert.Regexp(t, `^tpsl: rank [01]: a second thread called `+function+`, but /\S+ is not linked with libtpsl, so each rank runs a copy of the program; `+
		`relink it with tpslcc or use -tpsl shared\n$`, job.stderr)
}

// initThreads builds the program; g++ takes it for C++.
func initThreads(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, compiler, "testdata/initthreads.c", append([]string{"-pthread"}, flags...)...)
}

// A program for thread ranks that is linked with MPICH is told so when the second thread of a rank initialises MPI, at the
// same time or later, by whatever way it comes to MPICH's function.
func TestPrivateSecondInit(t *testing.T) {
	c, cxx := initThreads(t, "mpicc.mpich"), initThreads(t, "mpicxx.mpich")
	for _, call := range []struct{ name, program, argument, function string }{
		{"MPI_Init", c, "MPI_Init", "MPI_Init"},
		{"PMPI_Init", c, "PMPI_Init", "MPI_Init"},
		{"MPI_Init_thread", c, "MPI_Init_thread", "MPI_Init_thread"},
		{"dlsym", c, "default", "MPI_Init"},
		{"dlsym by a handle", c, "handle", "MPI_Init"},
		{"C++", cxx, "MPI_Init", "MPI_Init"},
		{"of C++", cxx, "MPI::Init", "MPI_Init"},
	} {
		for _, how := range []string{"together", "later"} {
			t.Run(call.name+" "+how, func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, nil, "-n 2 -rpp 2", call.program, how, call.argument)
				secondThread(t, job, call.function)
				assert.Contains(t, job.stdout, "begins ", "what the program has printed is not lost")
			})
		}
	}
}

func TestPrivateSecondInitOfFortran(t *testing.T) {
	testsupport.Require(t, "gfortran")
	for _, flags := range [][]string{nil, {"-DF08"}, {"-DLEVEL"}, {"-DF08", "-DLEVEL"}} {
		testsupport.NothingLeft(t)
		program := testsupport.CC(t, "mpif90.mpich", "testdata/initthreads.f90", append(flags, "-cpp", "-fopenmp")...)
		function := "MPI_Init"
		if len(flags) > 0 && flags[len(flags)-1] == "-DLEVEL" {
			function = "MPI_Init_thread"
		}
		secondThread(t, mpiexec(t, nil, "-n 2 -rpp 2", program), function)
	}
}

// Which thread is the one that initialises MPI does not matter. A second call by the same thread is MPICH's own error, a child
// of a rank is no rank, and sessions are for all threads.
func TestPrivateOneInit(t *testing.T) {
	program := initThreads(t, "mpicc.mpich")
	for _, arguments := range [][]string{{"one"}, {"other"}, {"one", "MPI_Init_thread"}, {"twice"}, {"child"}, {"later", "session"}} {
		t.Run(arguments[0], func(t *testing.T) {
			testsupport.NothingLeft(t)
			flatAndPrivate(t, nil, "", append([]string{program}, arguments...)...)
		})
	}
}

// A tool stays in front, and sees each call once.
func TestPrivateInitThroughTool(t *testing.T) {
	pmpi := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-shared", "-fPIC")
	next := testsupport.CC(t, "gcc", "testdata/nexttool.c", "-shared", "-fPIC")
	object := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-c")
	for _, c := range []struct{ name, options, program string }{
		{"preloaded", "-genv LD_PRELOAD " + pmpi, initThreads(t, "mpicc.mpich")},
		{"RTLD_NEXT", "-genv LD_PRELOAD " + next, initThreads(t, "mpicc.mpich")},
		{"library", "", initThreads(t, "mpicc.mpich", "-Wl,--no-as-needed", pmpi, "-Wl,-rpath,"+filepath.Dir(pmpi))},
		{"linked", "", initThreads(t, "mpicc.mpich", "-Wl,"+object)},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			lines := flatAndPrivate(t, nil, c.options, c.program, "other")
			assert.Contains(t, lines, "tool: 1 inits, 0 sends, 1 finalizes\n")
			secondThread(t, mpiexec(t, nil, "-n 2 -rpp 2 "+c.options, c.program, "later"), "MPI_Init")
		})
	}
}
