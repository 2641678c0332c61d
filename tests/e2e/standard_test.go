// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/search"
)

// standardLibrary returns a small library with the standard ABI.
func standardLibrary(t *testing.T, flags ...string) string {
	t.Helper()
	return library(t, "standard_library", append(flags, "-Wl,-soname,libmpi_abi.so.1")...)
}

// standardProgram compiles a program for the standard ABI, with the header that lies beside it.
func standardProgram(t *testing.T, flags ...string) string {
	t.Helper()
	header, err := filepath.Abs("testdata/standard")
	require.NoError(t, err)
	t.Setenv("TPSL_MPI_INCLUDE", header)
	return testsupport.CC(t, "tpslcc", "testdata/standard.c", append([]string{"-mpi=abi", "-fopenmp"}, flags...)...)
}

// A program for the standard ABI runs as thread ranks over a library that has it. It is linked with the stand-in for such a
// library, and with none for MPICH.
func TestStandardABI(t *testing.T) {
	testsupport.NothingLeft(t)
	program, env := standardProgram(t), []string{"TPSL_MPI_LIBRARY=" + standardLibrary(t)}
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	needed, err := f.ImportedLibraries()
	require.NoError(t, err)
	assert.Contains(t, needed, "libtpsl.so.0")
	assert.Contains(t, needed, "libmpi_abi.so.1")
	assert.False(t, slices.ContainsFunc(needed, func(name string) bool { return name == "libmpich.so.12" || name == "libmpi.so.12" }))

	job := mpiexec(t, env, "-n 4 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"slot 0 is rank 0 of 4\n", "slot 0 is rank 2 of 4\n", "slot 1 is rank 1 of 4\n", "slot 1 is rank 3 of 4\n"}, job.lines())
	for call, want := range map[string]string{"session": "session: 0, whole\n", "together": "together\n", "version": "MPI 5.0, ABI 1.0\n"} {
		for _, checked := range [][]string{nil, checking} {
			assert.Equal(t, want, run(t, slices.Concat(env, checked), program, call).succeeded(t).stdout)
		}
	}
	for _, level := range []string{"0", "1024", "2048", "4096"} { // MPI_THREAD_SINGLE, ...
		run(t, env, program, "level", level).succeeded(t)
	}
	job = run(t, env, program, "level", "3") // MPICH's MPI_THREAD_MULTIPLE
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "TPSL_Run: options.thread_level is 3: want MPI_THREAD_SINGLE, ")
}

// A program of one ABI with a library of another is one line that names the library and says what to do. So is a process that
// is linked with both, and a library that says that it has another version of the ABI.
func TestOtherABI(t *testing.T) {
	standard, standardOther, standardNone := standardLibrary(t), standardLibrary(t, "-DMAJOR=2"), standardLibrary(t, "-DMAJOR=-1")
	mpich, program, both := fixture(t, "brief"), standardProgram(t), standardProgram(t, "-Wl,--no-as-needed", "-L"+built(t, "lib/tpsl"), "-l:libmpich.so.12")
	for _, c := range []struct {
		name, program, library string
		says                   []string
	}{
		{"MPICH's program, standard library", mpich, standard, []string{standard + " has the standard ABI", "built for MPICH's", "TPSL_MPI_LIBRARY", "tpslcc -mpi=abi"}},
		{"standard program, MPICH", program, "libmpich.so.12", []string{"libmpich.so.12", "has the MPICH ABI", "built for the standard ABI", "tpslcc -mpi=mpich"}},
		{"standard program, Open MPI", program, openMPI(t), []string{openMPI(t) + " is Open MPI", "standard ABI in TPSL_MPI_LIBRARY"}},
		{"standard program, no library", program, "/nowhere/libmpi_abi.so.1", []string{"TPSL_MPI_LIBRARY=/nowhere/libmpi_abi.so.1", "not found", "a library with the standard ABI"}},
		{"another version", program, standardOther, []string{standardOther + " says that it has version 2 of the standard ABI", "version 1", "TPSL_MPI_LIBRARY"}},
		{"none after all", program, standardNone, []string{standardNone + " says that it has version -1"}},
		{"both", both, standard, []string{"linked with libmpich.so.12 (MPICH) and with libmpi_abi.so.1 (standard ABI)", "one MPI library"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + c.library}, "-n 2 -rpp 2", c.program)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl", append(c.says, "rank ")...)
		})
	}
}

// Open MPI takes a segment that a process of its own id made for its own. Ranks of one process still have segments of each other when
// the maker has left them.
func TestSegmentsOfOpenMPI(t *testing.T) {
	testsupport.NothingLeft(t)
	opal := library(t, "opal_library", "-Wl,-soname,libopen-pal.so.40")
	folder := t.TempDir()
	require.NoError(t, os.Symlink(opal, filepath.Join(folder, "libopen-pal.so.40")))
	mpi := standardLibrary(t, "-DOPAL", "-Wl,--no-as-needed", opal, "-Wl,-rpath,"+folder)
	job := run(t, []string{"TPSL_MPI_LIBRARY=" + mpi, "SEGMENT=" + filepath.Join(folder, "segment")}, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", standardProgram(t), "segment")
	assert.Equal(t, "still there\n", job.succeeded(t).stdout)
}

// A library that lacks a function which the program calls is one line, at the call.
func TestOlderStandardLibrary(t *testing.T) {
	mpi := standardLibrary(t)
	job := run(t, []string{"TPSL_MPI_LIBRARY=" + mpi}, built(t, "bin/mpiexec"), "-n", "1", standardProgram(t), "newer")
	assert.NotZero(t, job.code)
	oneLine(t, job, "tpsl", mpi, "MPI_Buffer_flush", "name a newer one in TPSL_MPI_LIBRARY")
}

// What serves thread ranks follows from what the library that the program resolves to speaks, and not from its name: mpiexec
// decides it before the start, from the environment of the program.
func TestStandardABIProtocol(t *testing.T) {
	program, pmix, pmi := standardProgram(t), standardLibrary(t, "-DOPEN_MPI"), standardLibrary(t)
	asked := "TPSL_MPI_LIBRARY=" + pmix
	served := func(env []string, options string) {
		t.Helper()
		job := pmixJobWith(t, env, options, program).succeeded(t) // the library knows its number by PMIX_RANK only
		assert.Equal(t, []string{"slot 0 is rank 0 of 1\n", "slot 0 is rank 2 of 1\n", "slot 1 is rank 1 of 1\n", "slot 1 is rank 3 of 1\n"}, job.lines())
	}
	served([]string{asked}, "-n 4 -rpp 2")
	served(nil, "-genv "+strings.Replace(asked, "=", " ", 1)+" -n 4 -rpp 2")
	served([]string{asked}, "-launcher fork -hosts a,b -ppn 2 -n 4 -rpp 2")
	byName := filepath.Join(t.TempDir(), "libmpi_abi.so.1")
	require.NoError(t, os.Symlink(pmix, byName))
	served([]string{"LD_LIBRARY_PATH=" + filepath.Dir(byName)}, "-n 4 -rpp 2")

	for _, c := range []struct {
		library, options string
		code             int
		tool             string
		says             []string
	}{
		{pmix, "-pmi 2 -n 2 -rpp 2", 1, "tpsl", []string{pmix + " speaks PMIx (Open MPI)", "the launcher serves PMI", "each would be a job of one", "without -pmi", "TPSL_MPI_LIBRARY"}},
		{pmix, "-pmi-port -n 2", 255, "mpiexec", []string{"its MPI library " + pmix + " needs PMIx", "leave -pmi-port out"}},
		{pmi, "-pmi x -n 2 -rpp 2", 255, "mpiexec", []string{"-pmi x wants PMIx", "thread ranks of this MPI library cannot use that"}},
	} {
		job := pmixJobWith(t, []string{"TPSL_MPI_LIBRARY=" + c.library}, c.options, program)
		assert.Equal(t, c.code, job.code, c.options)
		assert.Empty(t, job.stdout)
		oneLine(t, job, c.tool, c.says...)
	}
}

// A flat program for the standard ABI runs as a process per rank, as private ranks and over a stand-in, served by the protocol that the
// library which ld.so finds speaks. A job of both protocols is one line.
func TestFlatStandardABI(t *testing.T) {
	needsPMIxHelper(t)
	testsupport.NothingLeft(t)
	pmi, pmix := standardLibrary(t), standardLibrary(t, "-DOPEN_MPI")
	program := testsupport.CC(t, "gcc", "testdata/standard_flat.c", "-Itestdata/standard", "-fPIE", "-pie", pmi)
	found := func(library string) string {
		return testsupport.FirstFor(t, library)
	}
	for _, c := range []struct{ name, library, size string }{{"PMI", pmi, "4"}, {"PMIx", pmix, "1"}} { // without PMI the library knows no size
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for rank := range 4 {
				want = append(want, fmt.Sprintf("rank %d of %s\n", rank, c.size))
			}
			for _, options := range []string{"-n 4", "-n 4 -rpp 4", "-n 4 -rpp 2", "-n 4 -rpp 2 -tpsl private"} {
				job := mpiexec(t, []string{found(c.library)}, options, program).succeeded(t)
				assert.Equal(t, want, job.lines(), options)
			}
		})
	}
	job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + pmi, found(pmi)}, "-n 1 -tpsl shared", program).succeeded(t)
	assert.Equal(t, "rank 0 of 1\n", job.stdout)
	job = mpiexec(t, nil, "-env "+strings.Replace(found(pmix), "=", " ", 1)+" -n 1 "+program+" : -env "+strings.Replace(found(pmi), "=", " ", 1)+" -n 1", program)
	assert.Equal(t, 255, job.code)
	oneLine(t, job, "mpiexec", program+" on ", "is served by PMI, and others of this job by PMIx", "give -pmi x")
}

// What tpslcc cannot do for the standard ABI is one line.
func TestStandardABIRefused(t *testing.T) {
	for _, c := range []struct {
		command string
		env     []string
		args    []string
		says    []string
	}{
		{"tpslcc", []string{"TPSL_MPI_INCLUDE=/nonexistent"}, []string{"-mpi=abi", "x.c"}, []string{"no mpi_abi.h or mpi.h of the standard ABI in /nonexistent", "TPSL_MPI_INCLUDE"}},
		{"tpslcc", nil, []string{"-mpi=openmpi", "x.c"}, []string{"-mpi=openmpi: want -mpi=mpich or -mpi=abi"}},
		{"tpslfort", nil, []string{"-mpi=abi", "x.f90"}, []string{"no libraries for Fortran; use -mpi=mpich"}},
	} {
		job := run(t, c.env, append([]string{built(t, "bin/"+c.command)}, c.args...)...)
		assert.Equal(t, 1, job.code)
		assert.Empty(t, job.stdout)
		oneLine(t, job, c.command, c.says...)
	}
}

// Each library with the standard ABI that is installed runs one program, whoever made the library.
func TestInstalledStandardABI(t *testing.T) {
	libraries := testsupport.StandardLibraries(t)
	program, sums := testsupport.CC(t, "tpslcc", "../../examples/halo.c", "-mpi=abi", "-fopenmp", "-O2"), map[string]bool{}
	ends := testsupport.CC(t, "tpslcc", "testdata/standard_ends.c", "-mpi=abi", "-fopenmp", "-O2")
	for _, library := range libraries {
		judged, err := mpilib.Of(library, search.New(""))
		require.NoError(t, err)
		require.Equal(t, mpilib.Standard, judged.ABI, library)
		for ranks, layout := range map[int]string{1: "4 processes x 1 thread rank,", 2: "2 processes x 2 thread ranks", 4: "1 process x 4 thread ranks"} {
			t.Run(filepath.Base(library)+", "+layout, func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + library}, fmt.Sprintf("-n 4 -rpp %d", ranks), program)
				sums[checksum(t, job, layout)] = true
			})
		}
		t.Run(filepath.Base(library)+", two hosts", func(t *testing.T) {
			testsupport.NothingLeft(t)
			env := []string{"TPSL_MPI_LIBRARY=" + library}
			if judged.Implementation == mpilib.OfOpenMPI { // its own transports do not work between names of one machine
				env = append(env, "OMPI_MCA_pml=ucx", "OMPI_MCA_btl=self", "OMPI_MCA_pml_ucx_tls=any", "OMPI_MCA_pml_ucx_devices=any", "UCX_NET_DEVICES=lo")
			}
			job := mpiexec(t, env, "-launcher fork -hosts a,b -ppn 2 -n 4 -rpp 2", program)
			sums[checksum(t, job, "2 processes x 2 thread ranks")] = true
		})
		t.Run(filepath.Base(library)+", two networks", func(t *testing.T) {
			testsupport.Require(t, "ip", "nsenter")
			testsupport.NothingLeft(t)
			// Open MPI asks the kernel for a route from each network, also from loopback, and there is none to the other host.
			env := []string{"TPSL_MPI_LIBRARY=" + library, "UCX_NET_DEVICES=eth0", "OMPI_MCA_btl_tcp_if_include=eth0"}
			hosts := filepath.Join(testsupport.Root(t), "tests/bench/programs/two-hosts")
			job := run(t, env, hosts, "0", "0", built(t, "bin/mpiexec"), "-launcher", "ssh", "-launcher-exec", hosts,
				"-hosts", "10.79.0.1,10.79.0.2", "-ppn", "2", "-n", "4", "-rpp", "2", program)
			sums[checksum(t, job, "2 processes x 2 thread ranks")] = true
		})
		t.Run(filepath.Base(library)+", tool", func(t *testing.T) {
			testsupport.NothingLeft(t)
			tool := testsupport.CC(t, "tpslcc", "testdata/tool.c", "-mpi=abi", "-shared", "-fPIC")
			sends := testsupport.CC(t, "tpslcc", "testdata/sends.c", "-mpi=abi", "-fopenmp", "-O2", "-DTHREAD")
			for _, ranks := range []int{1, 2, 4} {
				env := []string{"TPSL_MPI_LIBRARY=" + library, "LD_PRELOAD=" + tool, fmt.Sprintf("OMP_NUM_THREADS=%d", ranks)}
				job := mpiexec(t, env, fmt.Sprintf("-n 4 -rpp %d", ranks), sends).succeeded(t)
				assert.Equal(t, strings.Repeat(fmt.Sprintf("tool: %d inits, %d sends, %[1]d finalizes\n", ranks, 3*ranks), 4/ranks), job.stdout)
			}
		})
		t.Run(filepath.Base(library)+", THREAD_MULTIPLE", func(t *testing.T) {
			testsupport.NothingLeft(t)
			env := []string{"TPSL_MPI_LIBRARY=" + library}
			multiple := testsupport.CC(t, "tpslcc", "testdata/multiple.c", "-mpi=abi", "-fopenmp", "-O2")
			assert.Equal(t, "multiple: 2 ranks, provided 1, 0 wrong\n", mpiexec(t, env, "-n 2", multiple).succeeded(t).stdout)
			helper := testsupport.CC(t, "tpslcc", "testdata/helper.c", "-mpi=abi", "-fopenmp", "-O2")
			assert.Equal(t, "helper: 0 wrong\n", mpiexec(t, env, "-n 4 -rpp 4", helper).succeeded(t).stdout)
		})
		t.Run(filepath.Base(library)+", flat and private", func(t *testing.T) {
			testsupport.NothingLeft(t)
			flat := testsupport.CCStandard(t, "gcc", "testdata/standard_ends.c", library, "-O2")
			for _, options := range []string{"-n 4", "-n 4 -rpp 4", "-n 4 -rpp 2"} {
				job := mpiexec(t, []string{testsupport.FirstFor(t, library)}, options, flat).succeeded(t)
				assert.Equal(t, []string{"rank 0 of 4\n", "rank 1 of 4\n", "rank 2 of 4\n", "rank 3 of 4\n"}, job.lines(), options)
			}
		})
		for how, code := range map[string]int{"finalize": 0, "abort": 7, "exit": 3, "kill": 9} {
			t.Run(filepath.Base(library)+", "+how, func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + library}, "-n 4 -rpp 2", ends, how)
				assert.Equal(t, code, job.code, job.stderr)
				assert.Equal(t, []string{"rank 0 of 4\n", "rank 1 of 4\n", "rank 2 of 4\n", "rank 3 of 4\n"}, job.lines())
			})
		}
		t.Run(filepath.Base(library)+", -timeout", func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"TPSL_MPI_LIBRARY=" + library}, "-timeout 10 -n 4 -rpp 2", ends, "stay")
			assert.Equal(t, 255, job.code)
			assert.Contains(t, job.stderr, "ranks 0-3 on ")
			assert.Contains(t, job.stderr, "had begun MPI_Init")
		})
	}
	assert.Len(t, sums, 1, "checksums")
}
