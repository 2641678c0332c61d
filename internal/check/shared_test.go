// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// source writes a source file of a program into a new folder.
func source(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// beInstalled makes this process tpsl of the build, whose host private mode takes.
func beInstalled(t *testing.T) {
	t.Helper()
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	t.Cleanup(func() { executable = os.Executable })
}

// printed returns the text of a report, with at most so many variables.
func printed(r Report, variables int) string {
	var out strings.Builder
	r.Print(&out, variables)
	return out.String()
}

// The classic bug of a program that is ported to thread ranks.
const classic = `#include <mpi.h>
#include <stdio.h>
static int rank;
_Thread_local int own;
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	fprintf(stdout, "%d\n", rank + own);
	return MPI_Finalize();
}
`

// A static variable is told by name and line before the program runs, also of a program that is linked with MPICH, whose
// threads would share it under -tpsl shared.
func TestClassicBug(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	beInstalled(t)
	for _, compiler := range []string{"tpslcc", "mpicc.mpich"} {
		t.Run(compiler, func(t *testing.T) {
			file := source(t, "classic.c", classic)
			r := File(testsupport.CC(t, compiler, file, "-g"))
			require.Len(t, r.Variables, 1)
			assert.Equal(t, Variable{"rank", "rank", 4, file, 3, r.File}, r.Variables[0])
			assert.Empty(t, r.Unseen)
			assert.True(t, r.OK, "a hint is no refusal")
			text := printed(r, mostVariables)
			assert.Contains(t, text, "\n\nThe threads of a process share 1 variable of the program:\n  BYTES  VARIABLE  SOURCE\n"+
				"      4  rank      "+file+":3\n"+sharing+"\n")
			for line := range strings.Lines(sharing) {
				assert.LessOrEqual(t, len(line)-1, 80, line)
			}
		})
	}
}

// A file below the working directory is named from there.
func TestSourceOfVariable(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	require.NoError(t, err)
	r := Report{File: "/bin/prog"}
	for _, c := range []struct {
		v    Variable
		want string
	}{
		{Variable{File: here + "/src/a.c", Line: 7, Object: "/bin/prog"}, "src/a.c:7"},
		{Variable{File: "/src/a.c", Line: 7, Object: "/bin/prog"}, "/src/a.c:7"},
		{Variable{File: "a.c", Object: "/bin/prog"}, "a.c"},
		{Variable{Object: "/bin/prog"}, "-"},
		{Variable{File: "/src/m.c", Line: 1, Object: "/opt/libmodel.so"}, "/src/m.c:1 in libmodel.so"},
	} {
		assert.Equal(t, c.want, r.source(c.v))
	}
}

// Libraries that come with the program count, with what they need. Those that each rank has to itself do not, nor do
// those of the system, of languages and of MPI.
func TestVariablesOfLibraries(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	dir := t.TempDir()
	library := func(name, text string, flags ...string) string {
		path := filepath.Join(dir, name)
		made := testsupport.CC(t, "gcc", source(t, "library.c", text), append([]string{"-shared", "-fPIC", "-g", "-Wl,-soname," + name, "-Wl,-rpath," + dir}, flags...)...)
		require.NoError(t, os.Rename(made, path))
		return path
	}
	below := library("libbelow.so", "int below;")
	model := library("libmodel.so", "extern int below; int model; int f(void) { return below + model; }", below)
	solver := library("libsolver.so", "int solver;")
	gomp := library("libgomp.so.1", "int gomp; void omp_set_num_threads(int n) { gomp = n; }")
	t.Setenv("TPSL_PRIVATE", "libsolver.so")
	const program = "#include <mpi.h>\nextern int model, solver; int f(void); void omp_set_num_threads(int);\n" +
		"int main(int c, char **v) { omp_set_num_threads(f() + model + solver); return MPI_Init(&c, &v); }"
	for _, kind := range []string{"-pie", "-no-pie"} {
		r := File(testsupport.CC(t, "mpicc.mpich", source(t, "program.c", program), kind, model, solver, gomp, "-Wl,-rpath,"+dir, "-Wl,--no-as-needed", "-l:libtinfo.so.6"))
		require.Empty(t, r.Unseen)
		var have []string
		for _, v := range r.Variables {
			have = append(have, v.Name+" in "+v.Object)
		}
		assert.Equal(t, []string{"model in " + model, "below in " + below}, have, kind)
	}
}

// Of a program in Fortran MPICH's own COMMON blocks are left out, by all three of its interfaces.
func TestFortranInterfaces(t *testing.T) {
	testsupport.Require(t, "mpifort.mpich")
	for name, text := range map[string]string{
		"mpif.h":  "program p\ninclude 'mpif.h'\n",
		"mpi":     "program p\nuse mpi\n",
		"mpi_f08": "program p\nuse mpi_f08\n",
	} {
		t.Run(name, func(t *testing.T) {
			text += "integer, save :: rank = -1\ninteger :: ierr\ncall MPI_Init(ierr)\ncall MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)\n" +
				"call MPI_Bcast(MPI_BOTTOM, 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\nprint *, rank\ncall MPI_Finalize(ierr)\nend program\n"
			r := File(testsupport.CC(t, "mpifort.mpich", source(t, "p.f90", text), "-g"))
			assert.Empty(t, r.Unseen)
			require.Len(t, r.Variables, 1, "%v", r.Variables)
			assert.Equal(t, "p()::rank", r.Variables[0].Name)
			assert.Equal(t, 3, r.Variables[0].Line)
		})
	}
}

// What cannot be known is said, and how to know it.
func TestVariablesOfStripped(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich", "strip")
	stripped := filepath.Join(t.TempDir(), "stripped")
	require.NoError(t, exec.Command("strip", "-o", stripped, testsupport.CC(t, "mpicc.mpich", source(t, "classic.c", classic), "-g")).Run())
	r := File(stripped)
	assert.Empty(t, r.Variables)
	assert.Equal(t, []string{stripped + ": it is stripped, so its static variables cannot be seen: check a file that is not"}, r.Unseen)
	text := printed(r, mostVariables)
	assert.Contains(t, text, "\n\n"+r.Unseen[0]+"\n\n")
	assert.NotContains(t, text, "share no variables", "nobody knows")

	r.Unseen = nil
	assert.Contains(t, printed(r, mostVariables), "\n\nThe threads of a process share no variables of the program.\n\n")
}

// Only where threads can be ranks their variables are of interest.
func TestNoVariablesWithoutThreadRanks(t *testing.T) {
	for name, file := range map[string]string{
		"not MPI": testsupport.CC(t, "gcc", source(t, "a.c", "int a; int main(void) { return a; }")),
		"static":  testsupport.CC(t, "gcc", source(t, "a.c", "int a; int main(void) { return a; }"), "-static"),
		"library": testsupport.CC(t, "gcc", source(t, "a.c", "int a;"), "-shared", "-fPIC"),
	} {
		r := File(file)
		assert.Empty(t, r.Variables, name)
		assert.NotContains(t, printed(r, mostVariables), "variable", name)
	}
}

// Many variables are cut off after the first twenty, which the last line says; -all shows them.
func TestManyVariables(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	beInstalled(t)
	text := "#include <mpi.h>\n"
	for i := range 30 {
		text += fmt.Sprintf("char v%02d[%d];\n", i, 1000*i+1)
	}
	program := testsupport.CC(t, "mpicc.mpich", source(t, "many.c", text+"int main(int c, char **v) { return MPI_Init(&c, &v); }\n"), "-g")
	r := File(program)
	require.Len(t, r.Variables, 30)
	row := regexp.MustCompile(`(?m)^ +[\d,]+  v\d\d       \S+/many\.c:\d+$`)
	for _, c := range []struct {
		option string
		rows   int
		more   bool
	}{{"", 20, true}, {"-all", 30, false}} {
		var out, errOut strings.Builder
		require.Zero(t, Command(strings.Fields(c.option+" "+program), &out, &errOut))
		assert.Len(t, row.FindAllString(out.String(), -1), c.rows)
		assert.Contains(t, out.String(), "The threads of a process share 30 variables of the program:\n")
		assert.Equal(t, c.more, strings.Contains(out.String(), "\n  ... and 10 more; -all shows them\n"))
		assert.NotContains(t, out.String(), "Compile with -g")
	}
	assert.Contains(t, printed(r, 30), "\n  29,001  v29 ")

	without := File(testsupport.CC(t, "mpicc.mpich", source(t, "many.c", text+"int main(int c, char **v) { return MPI_Init(&c, &v); }\n")))
	assert.Contains(t, printed(without, mostVariables), "\nCompile with -g to see the line of each variable.\n")
}
