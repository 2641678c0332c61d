// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// HDF5 and ScaLAPACK in C, C++ and Fortran, as Debian builds them for MPICH, give thread ranks what they give processes, to the last bit; to a
// program that was linked with MPICH, too.
func TestLibraries(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		file  bool // the program writes one
	}{
		{"hdf5.c", []string{"-I/usr/include/hdf5/mpich", "-lhdf5_mpich"}, true},
		{"hdf5f.f90", []string{"-I/usr/include/hdf5/mpich", "-lhdf5_mpich_fortran"}, true},
		{"hdf5xx.cc", []string{"-I/usr/include/hdf5/mpich", "-lhdf5_mpich_cpp", "-lhdf5_mpich"}, true},
		{"scalapack.c", []string{"-lscalapack-mpich", "-lm"}, false},
		{"scalapackf.f90", []string{"-lscalapack-mpich"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			source := "../../examples/libraries/" + c.name
			compilers := map[string][2]string{".c": {"mpicc.mpich", "tpslcc"}, ".cc": {"mpicxx.mpich", "tpslcxx"}, ".f90": {"mpif90.mpich", "tpslfort"}}[filepath.Ext(c.name)]
			flags := append([]string{"-fopenmp", "-O2", "-Wall", "-Wextra", "-Werror"}, c.flags...)
			flat := testsupport.CC(t, compilers[0], source, flags...)
			relinked := testsupport.CC(t, compilers[1], source, flags...)
			result := func(launch func(program ...string) outcome, program string) (stdout string, file [sha256.Size]byte) {
				path := filepath.Join(t.TempDir(), "data")
				argv := []string{program}
				if c.file {
					argv = append(argv, path)
				}
				job := launch(argv...).succeeded(t)
				if c.file {
					data, err := os.ReadFile(path)
					require.NoError(t, err)
					file = sha256.Sum256(data)
				}
				return job.stdout, file
			}
			want, wantFile := result(func(program ...string) outcome { return hydra(t, oneThread, "-n 4", program...) }, flat)
			for _, ours := range []struct{ options, program string }{
				{"-n 4 -rpp 4", relinked}, {"-n 4 -rpp 2", relinked}, {"-n 4 -rpp 4 -tpsl shared", flat},
			} {
				got, gotFile := result(func(program ...string) outcome { return mpiexec(t, verify, ours.options, program...) }, ours.program)
				assert.Equal(t, want, got, ours)
				assert.Equal(t, wantFile, gotFile, "%v: the file", ours)
			}
		})
	}
}

// policy writes a user's policy.
func policy(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A library that counts in a variable counts for all ranks together, or for each one if TPSL_PRIVATE names it.
func TestPrivateLibrary(t *testing.T) {
	const source = "testdata/hostile.c"
	const rest = "rank %d, sum 66, call 42, name 4, number %d\n"
	hostile := testsupport.CC(t, "mpicc.mpich", source, "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,hostile")
	front := testsupport.CC(t, "gcc", "testdata/front.c", "-shared", "-fPIC")
	program := testsupport.CC(t, "tpslcc", source, "-fopenmp", "-Wl,-z,now", hostile, "-Wl,-rpath,"+filepath.Dir(hostile))
	here := testsupport.CC(t, "tpslcc", source, "-fopenmp", hostile, "-Wl,-rpath,.")
	counts := func(n, number int) (lines []string) {
		lines = append(lines, "before: 1\n")
		for rank := range 2 {
			lines = append(lines, fmt.Sprintf("rank %d: counted to %d, "+rest, rank, n, rank, number))
		}
		return lines
	}
	own := "TPSL_PRIVATE=" + filepath.Base(hostile) + "=hostile_open"
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"shared", nil, []string{"before: 1\n", fmt.Sprintf("rank 0: counted to 20, "+rest, 0, -1), fmt.Sprintf("rank 1: counted to 21, "+rest, 1, -1)}},
		{"private", []string{own}, counts(10, 42)},
		{"a pattern that matches nothing, and one that does", []string{"TPSL_PRIVATE=libnothing*,host*=hostile_open"}, counts(10, 42)},
		{"named in a policy", []string{"TPSL_POLICY=" + policy(t, "[program]\n"+filepath.Base(hostile)+" private hostile_open\n")}, counts(10, 42)},
		{"a library in front", []string{own, "LD_PRELOAD=" + front}, func() []string {
			lines := counts(1000, 42)
			lines[0] = "before: 1000\n"
			return lines
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			assert.Equal(t, c.want, mpiexec(t, c.env, "-n 2 -rpp 2", program).succeeded(t).lines())
		})
	}
	for name, from := range map[string][]string{
		"relative path":                  {"env", "-C", filepath.Dir(hostile), built(t, "bin/mpiexec")},
		"relative path and other folder": {built(t, "bin/mpiexec"), "-wdir", filepath.Dir(hostile)},
	} {
		t.Run("found by a "+name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := run(t, []string{own}, append(from, "-n", "2", "-rpp", "2", here)...)
			assert.Equal(t, counts(10, 42), job.succeeded(t).lines())
		})
	}
	t.Run("one rank has the process to itself", func(t *testing.T) {
		testsupport.NothingLeft(t)
		job := mpiexec(t, []string{own, "OMP_NUM_THREADS=1"}, "-n 1", program)
		assert.Equal(t, []string{"before: 1\n", fmt.Sprintf("rank 0: counted to 11, "+rest, 0, -1)}, job.succeeded(t).lines())
	})
}

// A tool sees what a private library calls.
func TestToolSeesPrivateLibrary(t *testing.T) {
	testsupport.NothingLeft(t)
	hostile := testsupport.CC(t, "mpicc.mpich", "testdata/hostile.c", "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,hostile")
	program := testsupport.CC(t, "tpslcc", "testdata/hostile.c", "-fopenmp", hostile, "-Wl,-rpath,"+filepath.Dir(hostile))
	tool := testsupport.CC(t, "tpslcc", "testdata/ranktool.c", "-shared", "-fPIC")
	job := mpiexec(t, []string{"TPSL_PRIVATE=hostile", "LD_PRELOAD=" + tool}, "-n 2 -rpp 2", program).succeeded(t)
	// Each rank asks for its rank twice: in the program and in the library.
	assert.Contains(t, job.stdout, "tool: 4 calls of MPI_Comm_rank\n")
}

// Initial-exec thread-locals of a private library: each rank's own, whatever thread acts for it.
func TestPrivateLibraryStaticTLS(t *testing.T) {
	testsupport.NothingLeft(t)
	program := hostileWithStaticTLS(t, "100")
	job := mpiexec(t, []string{"TPSL_PRIVATE=hostile"}, "-n 2 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{
		"before: 1\n",
		"rank 0: counted to 10, rank 0, sum 66, call 42, name 4, number -1\n",
		"rank 1: counted to 10, rank 1, sum 66, call 42, name 4, number -1\n",
		"thread 0: as rank 1 1, as rank 0 11\n",
	}, job.lines())
}

func hostileWithStaticTLS(t *testing.T, size string) string {
	const source = "testdata/hostile.c"
	static := testsupport.CC(t, "mpicc.mpich", source, "-DLIBRARY", "-DSTATIC_TLS="+size, "-shared", "-fPIC", "-Wl,-soname,hostile")
	return testsupport.CC(t, "tpslcc", source, "-fopenmp", "-DSWITCH", static, "-Wl,-rpath,"+filepath.Dir(static))
}

func TestPrivateLibraryRefused(t *testing.T) {
	const source = "testdata/hostile.c"
	hostile := testsupport.CC(t, "mpicc.mpich", source, "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,hostile")
	flags := []string{"-fopenmp", hostile, "-Wl,-rpath," + filepath.Dir(hostile)}
	program, local := testsupport.CC(t, "tpslcc", source, flags...), testsupport.CC(t, "tpslcc", source, append(flags, "-DLOCAL")...)
	starved := "LD_PRELOAD=" + testsupport.CC(t, "gcc", "testdata/starve.c", "-shared", "-fPIC", "-fno-builtin")
	for _, c := range []struct {
		name, variable, program string
		says                    []string
	}{
		{"no memory", starved, program, []string{"no memory for the program's private libraries"}},
		{"too large initial-exec TLS", "TPSL_PRIVATE=hostile", hostileWithStaticTLS(t, "600"), []string{"rank ", "load a private library of the program", "hostile", "initial-exec", "620 bytes, 512 of the 512"}},
		{"pattern", "TPSL_PRIVATE=[", program, []string{"TPSL_PRIVATE=[", `pattern "["`, "with commas between them"}},
		{"policy", "TPSL_POLICY=" + policy(t, "libm.so.6 everywhere\n"), program, []string{"TPSL_POLICY: ", `policy:1: placement "everywhere" is none of private, once, shared`}},
		{"no policy", "TPSL_POLICY=/no/such/file", program, []string{"TPSL_POLICY: open /no/such/file: no such file"}},
		{"no such function", "TPSL_PRIVATE=hostile=nothing", program, []string{"rank ", "hostile has no function nothing to prepare it"}},
		{"thread-local variable", "TPSL_PRIVATE=hostile", local, []string{"thread-local variable hostile_local of ", "leave that library shared"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"TPSL_PRIVATE=hostile", c.variable}, "-n 2 -rpp 2", c.program)
			assert.Equal(t, 1, job.code)
			line, _, _ := strings.Cut(job.stderr, "\n")
			for _, says := range append(c.says, "tpsl: ") {
				assert.Contains(t, line, says)
			}
		})
	}
}
