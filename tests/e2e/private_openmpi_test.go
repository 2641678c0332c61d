// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// flatOpenMPI compiles a program for plain Open MPI: a process is a rank.
func flatOpenMPI(t *testing.T, source string, flags ...string) string {
	t.Helper()
	needsPMIxHelper(t)
	compiler := map[string]string{".c": "mpicc.openmpi", ".cc": "mpicxx.openmpi", ".f90": "mpif90.openmpi"}[filepath.Ext(source)]
	return testsupport.CC(t, compiler, source, append([]string{"-fopenmp", "-O2"}, flags...)...)
}

// A flat program of Open MPI does the same as private ranks as in processes, in one address space or in several.
func TestPrivateOpenMPI(t *testing.T) {
	program := flatOpenMPI(t, "testdata/kinds.c")
	for _, options := range []string{"-n 2 -rpp 2", "-n 4 -rpp 2", "-n 3 -rpp 2", "-n 8 -rpp 8", "-n 4"} {
		t.Run(options, func(t *testing.T) {
			ranks := int(options[3] - '0')
			var want []string
			for rank := range ranks {
				want = append(want, fmt.Sprintf("rank %d of %d: 0 wrong\n", rank, ranks))
			}
			assert.Equal(t, want, pmixJob(t, options, program, filepath.Join(t.TempDir(), "file")).succeeded(t).lines())
		})
	}
}

// A rank that ends as others do not is told as a flat rank is.
func TestPrivateOpenMPIEnds(t *testing.T) {
	program := openMPIProgram(t)
	for _, c := range endsOfOpenMPI {
		for _, rpp := range []string{"2", "4"} {
			t.Run(c.how+" of "+rpp, func(t *testing.T) {
				o := pmixJob(t, "-l -n 4 -rpp "+rpp, program, c.how)
				assert.Equal(t, c.code, o.code, o.stderr)
				assert.Equal(t, c.stderr == nil, o.stderr == "", o.stderr)
				for _, part := range c.stderr {
					assert.Contains(t, o.stderr, part)
				}
				assert.Subset(t, o.lines(), ringLines(4))
			})
		}
	}
}

// What a process has to itself, a rank has, however it ends. When rank 1 has died, libpmix lets rank 0 go on, which waits for it in
// MPI_Finalize: it gets to its end, or is killed before, flat as well.
func TestPrivateOpenMPIIsAsFlat(t *testing.T) {
	allEndsAsFlat(t, "OMPI_MCA_opal_signal=", flatOpenMPI(t, "testdata/alone.c"), []string{"abort", "crash", "early"})
}

// C++ and Fortran: the bindings and their runtimes are each rank's own.
func TestPrivateOpenMPILanguages(t *testing.T) {
	for _, name := range []string{"everything.cc", "everything.f90"} {
		t.Run(name, func(t *testing.T) {
			program := flatOpenMPI(t, "testdata/"+name)
			for _, ranks := range []string{"2", "8"} {
				want := pmixJob(t, "-n "+ranks, program, t.TempDir()+"/")
				got := pmixJob(t, "-n "+ranks+" -rpp "+ranks, program, t.TempDir()+"/")
				assert.Equal(t, want.code, got.code, got.stderr)
				assert.Equal(t, want.lines(), got.lines())
				assert.Equal(t, inAnyOrder(want.stderr), inAnyOrder(got.stderr))
			}
		})
	}
}

// 64 ranks in one address space start, meet and finish.
func TestPrivateOpenMPIMany(t *testing.T) {
	testsupport.NothingLeft(t)
	program := openMPIProgram(t)
	needsPMIxHelper(t)
	o := runFor(t, 4*time.Minute, []string{"TMPDIR=" + t.TempDir()}, built(t, "bin/mpiexec"), "-l", "-n", "64", "-rpp", "64", program).succeeded(t)
	assert.ElementsMatch(t, ringLines(64), o.lines())
}

// Between ranks of one address space a long message is one copy of ours, which works where the kernel refuses copies between processes.
func TestPrivateOpenMPIOneCopy(t *testing.T) {
	program, tool := flatOpenMPI(t, "testdata/rendezvous.c"), library(t, "counts_copies")
	least := 10 * 4 << 20 * 9 / 10 // the first part of a message comes with its announcement
	for _, kernel := range []string{"allowed", "refused"} {
		t.Run(kernel, func(t *testing.T) {
			testsupport.NothingLeft(t)
			argv := append(kernels(t)[kernel], built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-genv", "LD_PRELOAD", tool, program)
			o := run(t, []string{"TMPDIR=" + t.TempDir()}, argv...).succeeded(t)
			for rank := range 2 {
				assert.Contains(t, o.stdout, fmt.Sprintf("rank %d: 0 wrong\n", rank))
				copied := regexp.MustCompile(fmt.Sprintf(`(?m)^rank %d: copied (\d+) bytes, 0 refused$`, rank)).FindStringSubmatch(o.stdout)
				require.NotNil(t, copied, o.stdout)
				bytes, err := strconv.Atoi(copied[1])
				require.NoError(t, err)
				assert.Greater(t, bytes, least)
			}
		})
	}
}

// The programs that measure latency and bandwidth look at every message that they receive.
func TestPrivateOpenMPIMessages(t *testing.T) {
	for _, name := range []string{"latency", "stream"} {
		program := flatOpenMPI(t, "../bench/programs/"+name+".c", "../bench/programs/ends.c")
		for _, c := range []struct{ options, mode, between string }{
			{"-n 2", "flat", "processes"}, {"-n 2 -rpp 2", "private", "threads"}, {"-n 8 -rpp 8", "private", "threads"},
		} {
			t.Run(name+" "+c.options, func(t *testing.T) {
				o := pmixJobWith(t, []string{"OMP_NUM_THREADS=1"}, c.options, program, c.mode, c.between, "0", "8,16384,4194304").succeeded(t)
				for _, size := range []string{"8", "16384", "4194304"} {
					assert.Regexp(t, `(?m)^Benchmark\w+/mode=`+c.mode+`/.*/size=`+size+` `, o.stdout)
				}
			})
		}
	}
}

// Open MPI writes jumps over functions of libc when a transport asks it to tell of memory that goes. Ranks of one address space share libc.
func TestPrivateOpenMPILeavesLibcAlone(t *testing.T) {
	program := flatOpenMPI(t, "testdata/jumps.c")
	var env []string
	for _, setting := range []string{"pml=ucx", "btl=self", "osc=ucx", "opal_common_ucx_tls=any", "opal_common_ucx_devices=any", "opal_common_ucx_opal_mem_hooks=1"} {
		env = append(env, "OMPI_MCA_"+setting)
	}
	assert.Equal(t, "a jump of Open MPI 1\na jump of Open MPI 1\n", pmixJobWith(t, env, "-n 2", program).succeeded(t).stdout)
	assert.Equal(t, "a jump of Open MPI 0\na jump of Open MPI 0\n", pmixJobWith(t, env, "-n 2 -rpp 2", program).succeeded(t).stdout)
}

// A rank that is killed takes its set along, and nothing is left of the job.
func TestPrivateOpenMPIKilled(t *testing.T) {
	program := flatOpenMPI(t, "testdata/kinds.c")
	for _, victim := range []int{0, 3} {
		t.Run(fmt.Sprint(victim), func(t *testing.T) {
			testsupport.NothingLeft(t)
			folder := t.TempDir()
			job := start(t, []string{"TMPDIR=" + folder}, built(t, "bin/mpiexec"), "-n", "4", "-rpp", "4", program, "stay")
			ranks := ranksOf(job)
			require.Len(t, ranks, 4)
			require.NoError(t, unix.Kill(ranks[victim], unix.SIGKILL))
			require.Eventually(t, func() bool { return len(job.processes()) == 0 }, soon, 5*time.Millisecond, "processes of the job are left")
			left, err := os.ReadDir(folder)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A crash is told with its frames, by their names, and not by Open MPI's own report.
func TestPrivateOpenMPICrashReport(t *testing.T) {
	program := flatOpenMPI(t, "testdata/crash.c", crashFlags...)
	const line = `testdata/crash\.c:\d+ \(crash\+0x[0-9a-f]+\)`
	const library = `libmpi\.so\.40\+0x[0-9a-f]+ \(P?MPI_\w+\+0x[0-9a-f]+\)`
	for how, c := range map[string]struct {
		signal unix.Signal
		frames []string
	}{
		"divide":       {unix.SIGFPE, []string{"divides " + line, library, "reduce_with " + line}},
		"bad_function": {unix.SIGSEGV, []string{"0x8", library, "reduce_with " + line}},
		"abort_inside": {unix.SIGABRT, []string{"aborts " + line, library, "abort_inside " + line}},
		"overflow":     {unix.SIGSEGV, []string{"deeper " + line}},
	} {
		t.Run(how, func(t *testing.T) {
			o := pmixJobWith(t, []string{"OMP_NUM_THREADS=1"}, "-n 2 -rpp 2", program, how)
			assert.Equal(t, int(c.signal), o.code)
			assert.Contains(t, o.stderr, fmt.Sprintf(" killed by %s (%d, ", unix.SignalName(c.signal), c.signal))
			assert.Regexp(t, `(?m)^tpsl: rank 1 \(process \d+, thread \d+\): `+unix.SignalName(c.signal), o.stderr)
			for _, frame := range c.frames {
				assert.Regexp(t, `(?m)^tpsl:   #\d+ `+frame+`$`, o.stderr)
			}
			assert.NotContains(t, o.stderr, "*** Process received signal ***")
		})
	}
}

// Clients of PMIx in one process have a session each: their own facts, fences of some of them, values that no fence has brought, and names.
func TestPrivatePMIxClients(t *testing.T) {
	program := pmixClient(t)
	flat := pmixJob(t, "-l -pmi x -launcher fork -hosts a:2,b:2 -n 4", program).succeeded(t)
	private := pmixJob(t, "-l -pmi x -launcher fork -hosts a:2,b:2 -n 4 -rpp 2 -tpsl private", program).succeeded(t)
	assert.Equal(t, flat.lines(), private.lines())
}

func TestPrivateOpenMPISpawn(t *testing.T) {
	program := testsupport.CC(t, "mpicc.openmpi", "testdata/ompispawn.c")
	o := pmixJob(t, "-n 2 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"2 parents, 2 children, sum 6, \"\"\n", "2 parents, 2 children, sum 6, \"two words\"\n"}, o.lines())
}

// Ranks of one address space on several hosts, each with a helper of its own.
func TestPrivateOpenMPIHosts(t *testing.T) {
	hosts, step := pmixHosts(t)
	program := openMPIProgram(t)
	for options, ranks := range map[string]int{"-hosts a:2,b:2 -n 4 -rpp 2": 4, "-fanout 1 -hosts b:2,c:1,a:2 -n 5 -rpp 2": 5} {
		step(options, func(t *testing.T) {
			assert.Equal(t, ringLines(ranks), from(t, hosts, "-l "+options, program).succeeded(t).lines())
		})
	}
	step("abort", func(t *testing.T) {
		o := from(t, hosts, "-hosts a:2,b:2 -n 4 -rpp 2", program, "abort")
		assert.Equal(t, 7, o.code)
		assert.Contains(t, o.stderr, "\nmpiexec: rank 1 on a called MPI_Abort: exit code 7\n")
	})
	step("killed", func(t *testing.T) {
		o := from(t, hosts, "-hosts a:2,b:2 -n 4 -rpp 2", program, "killed")
		assert.Equal(t, 9, o.code)
		assert.Contains(t, o.stderr, "mpiexec: rank 1 (")
	})
}

// The second thread of a rank that initialises MPI is told as with MPICH, though there is no PMI session to abort the job by.
func TestPrivateOpenMPISecondInit(t *testing.T) {
	program := initThreads(t, "mpicc.openmpi")
	for _, how := range []string{"together", "later"} {
		t.Run(how, func(t *testing.T) {
			secondThread(t, pmixJob(t, "-n 2 -rpp 2", program, how, "MPI_Init"), "MPI_Init")
		})
	}
}

// Ranks whose MPI library does not speak what mpiexec was told to serve would be jobs of one each.
func TestPrivateSilentSingletons(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "mpicc.openmpi")
	env := []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	o := mpiexec(t, env, "-pmi 2 -n 2 -rpp 2", openMPIProgram(t))
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, `(?m)^mpiexec: \S+/openmpi on \S+: its MPI library \(\S+/libmpi.so.40\) does not speak .*; leave -pmi 2 out, build`, o.stderr)
}
