// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// posix compiles a program without MPI.
func posix(t *testing.T, name string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, "gcc", "testdata/"+name+".c", append([]string{"-D_GNU_SOURCE", "-O1", "-pthread"}, flags...)...)
}

// The child that a rank forks may use all of libc, whatever the other ranks were inside of at that moment.
func TestPrivateForks(t *testing.T) {
	forks := testsupport.Times(200, 10000)
	program := posix(t, "forks")
	for _, where := range [][]string{nil, {"in-handler"}} {
		t.Run(strings.Join(where, " "), func(t *testing.T) {
			testsupport.NothingLeft(t)
			done := filepath.Join(t.TempDir(), "done")
			job := runFor(t, limit+time.Duration(forks)*150*time.Millisecond, nil, slices.Concat([]string{built(t, "bin/mpiexec"), "-n", "4", "-rpp", "4", "-tpsl", "private",
				program, strconv.Itoa(forks), done}, where)...)
			assert.Equal(t, fmt.Sprintf("%d children ended\n", forks), job.succeeded(t).stdout)
		})
	}
}

// Shells that are ranks fork for a command's output and end at the same time as others, while their stdin stays open.
func TestPrivateShellsFork(t *testing.T) {
	testsupport.NothingLeft(t)
	jobs := testsupport.Times(30, 2000)
	testsupport.Limit(t, limit+time.Duration(jobs)*2*time.Second)
	stdin := filepath.Join(t.TempDir(), "stdin")
	require.NoError(t, unix.Mkfifo(stdin, 0o600))
	const text = `said=$(echo rank $PMI_RANK; echo of $PMI_SIZE); echo $said; exit $(echo $((PMI_RANK + 4)))`
	for n := range jobs {
		job := run(t, []string{"STDIN=" + stdin}, "sh", "-c", `exec "$@" 0<>"$STDIN"`, "sh",
			built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-tpsl", "private", "/bin/bash", "-c", text)
		require.Equal(t, []string{"rank 0 of 2\n", "rank 1 of 2\n"}, job.lines(), "job %d", n)
		require.Equal(t, 4|5, job.code, "job %d", n)
	}
}

// What a rank leaves when it ends, or executes another program, keeps no other one out of libc for long, whatever its threads were at.
func TestPrivateGates(t *testing.T) {
	program := posix(t, "gates")
	for how, want := range map[string]string{
		"end":    "rank 2 found it\n",
		"exec":   "three forks took less than 9 seconds\n",
		"setuid": "the user is set\n",
	} {
		t.Run(how, func(t *testing.T) {
			testsupport.NothingLeft(t)
			assert.Equal(t, want, mpiexec(t, nil, "-n 3 -rpp 3 -tpsl private", program, how, t.TempDir()).succeeded(t).stdout)
		})
	}
}

// A handler that ends a rank while the rank sleeps in libc takes no lock along: the others live on.
func TestPrivateEndsInHandler(t *testing.T) {
	testsupport.NothingLeft(t)
	assert.Equal(t, "the others went on\n", mpiexec(t, nil, "-n 3 -rpp 3 -tpsl private", posix(t, "handled")).succeeded(t).stdout)
}

// A thread that sleeps with memory near the lock of malloc's arena is outside libc: its rank ends at once, and the other one goes on.
func TestPrivateSleepsNearArena(t *testing.T) {
	testsupport.NothingLeft(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	assert.Equal(t, "the other rank has ended\n", mpiexec(t, nil, "-n 2 -rpp 2 -tpsl private", posix(t, "arena"), fifo).succeeded(t).stdout)
}

// A rank whose thread does not leave ld.so ends with its lock, and the set ends with it in one line: the others would wait for the lock for
// ever.
func TestPrivateThreadLeftBehind(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl private", posix(t, "behind"), filepath.Join(t.TempDir(), "inside"))
	assert.NotZero(t, job.code)
	assert.Empty(t, job.stdout)
	assert.Regexp(t, `^tpsl: rank 0 ended inside libc\. It may have left locks held in the memory that it shares, so these ranks are ended: 1\n`, job.stderr)
}

// A rank that ends while its threads are inside libc and ld.so leaves none of their locks held: the others get on.
func TestPrivateRanksLeave(t *testing.T) {
	program := posix(t, "leavers")
	for _, how := range []string{"return", "exit", "_exit", "exec"} {
		t.Run(how, func(t *testing.T) {
			testsupport.NothingLeft(t)
			for range testsupport.Times(15, 500) {
				job := mpiexec(t, nil, "-n 4 -rpp 4 -tpsl private", program, how).succeeded(t)
				want := "ready\n"
				if how == "exec" {
					want = strings.Repeat("rank ends\n", 4) + want
				}
				require.Equal(t, want, strings.Join(job.lines(), ""))
			}
		})
	}
}

// A rank that is killed may have held any lock. The set ends with it, whatever the others do, also after MPI_Finalize, when
// another one has left, and where the launcher would let them run on. That takes less than two seconds, unless the job gets no
// processor for so long, as one of several may on a busy machine. mpiexec names the death in one line when the job has
// ended. Where it would let the others run on, the host has said in one line, at once, whom it ends.
func TestPrivateKilledSet(t *testing.T) {
	programs := map[string]string{
		"without MPI":        posix(t, "leavers"),
		"after MPI_Finalize": testsupport.CC(t, "mpicc.mpich", "testdata/leavers.c", "-DWITH_MPI", "-D_GNU_SOURCE", "-O1", "-pthread"),
	}
	for name, program := range programs {
		for _, option := range []string{"-enable-auto-cleanup", "-disable-auto-cleanup"} {
			for how, left := range map[string]int{"stay": 4, "one": 3} {
				t.Run(name+option+" "+how, func(t *testing.T) {
					testsupport.NothingLeft(t)
					var all []time.Duration
					for range testsupport.Times(5, 65) {
						job := start(t, nil, built(t, "bin/mpiexec"), "-n", "4", "-rpp", "4", "-tpsl", "private", option, program, how, t.TempDir())
						victim, took, waited := killAny(t, job, left)
						all = append(all, took)
						_ = job.Wait()
						stderr, err := os.ReadFile(job.said)
						require.NoError(t, err)
						named := fmt.Sprintf(`mpiexec: rank \d \(%s on \S+, PID %d\) was killed by SIGKILL \(9, Killed\), no core\n`, regexp.QuoteMeta(program), victim)
						before := ""
						switch {
						case option == "-disable-auto-cleanup":
							before = hostEndsSet
						case took+waited >= hostWaits:
							before = "(" + hostEndsSet + ")?"
						}
						if took+waited >= inTime { // for so long the proxy waits for the host: one that gets no processor is killed then, and may not have said anything
							before = "(" + hostEndsSet + `|mpiexec: rank \d on \S+: it died of a signal, and its process did not end the ranks .* in time: they are killed\n){0,2}`
						}
						require.Regexp(t, "^"+before+named+"$", string(stderr))
					}
					slices.Sort(all)
					assert.Less(t, all[len(all)-2], inTime, "all but one: %v", all)
				})
			}
		}
	}
}

// hostEndsSet is what the host says when it ends a set of which a rank has died. It waits for some time, so that the launcher
// can end the job first. On a busy machine the launcher may take longer.
const (
	hostEndsSet = `(\[\d\] )?tpsl: rank \d died of signal \d+ \(SIG\w+\)\. It may have left locks held in the memory that it shares, so these ranks are ended: \d(, \d)*\n`
	hostWaits   = 500 * time.Millisecond
	inTime      = 2 * time.Second // a set ends sooner after the death of one of its ranks
)

// withoutHostEndsSet takes that line out of what a job has said. If the job began less than the host's wait ago, the line is a fault, and stays.
func withoutHostEndsSet(began time.Time, stderr string) string {
	if time.Since(began) < hostWaits {
		return stderr
	}
	return regexp.MustCompile(`(?m)^`+hostEndsSet).ReplaceAllString(stderr, "")
}

// killAny kills any rank of a job with one set, at any time after there are so many of them left. It returns how long the job's processes
// go on then. What this process has waited for a processor beyond its pauses is told apart: the job may wait as long. A look for the job's
// processes in /proc waits for the set, whose memory it reads, so there is none while the clock runs.
func killAny(t *testing.T, job *background, left int) (victim int, took, waited time.Duration) {
	t.Helper()
	const pause = 5 * time.Millisecond
	var ranks []int
	require.Eventually(t, func() bool { ranks = ranksOf(job); return len(ranks) == left }, soon, pause, "ranks of the job")
	var live []unix.PollFd
	processes := job.processes()
	for _, pid := range processes {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			defer unix.Close(fd)
			live = append(live, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	victim = ranks[rand.N(left)]
	time.Sleep(rand.N(20 * time.Millisecond))
	require.NoError(t, unix.Kill(victim, unix.SIGKILL))
	began, before := time.Now(), testsupport.Whereabouts()
	for logged := false; len(live) > 0; {
		if !logged && time.Since(began)-waited >= inTime {
			t.Logf("the set is late; the processors' ticks at the kill, and what is going on now:\n%s%s", before, testsupport.Whereabouts(processes...))
			logged = true
		}
		require.Less(t, time.Since(began), soon, "processes of the job are left")
		start := time.Now()
		time.Sleep(pause)
		waited += time.Since(start) - pause
		if _, err := unix.Poll(live, 0); err != unix.EINTR {
			require.NoError(t, err)
		}
		live = slices.DeleteFunc(live, func(p unix.PollFd) bool { return p.Revents != 0 })
	}
	took = time.Since(began) - waited
	require.Empty(t, job.processes())
	return victim, took, waited
}

// ranksOf lists the ranks of a job with one set: the children of their host.
func ranksOf(job *background) (ranks []int) {
	for _, pid := range job.processes() {
		if strings.HasSuffix(executable(pid), "/lib/tpsl/host") && strings.HasSuffix(executable(parent(pid)), "/lib/tpsl/host") {
			ranks = append(ranks, pid)
		}
	}
	return ranks
}

func executable(pid int) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return path
}

// Whatever makes a child makes the one that a flat rank gets, and calls the handlers of its own rank only.
func TestPrivateChildren(t *testing.T) {
	testsupport.NothingLeft(t)
	program := posix(t, "forked", "-lutil")
	want := mpiexec(t, nil, "-n 3", program).succeeded(t)
	assert.Equal(t, want.lines(), mpiexec(t, nil, "-n 3 -rpp 3 -tpsl private", program).succeeded(t).lines())
}

// Ranks start side by side: what constructors of one wait for, another's do.
func TestPrivateConstructors(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicc.mpich", "early.c")
	for _, options := range []string{"-n 4 -rpp 4", "-n 4 -rpp 2"} {
		assert.Equal(t, mpiexec(t, nil, "-n 4", program).succeeded(t).lines(), mpiexec(t, nil, options, program).succeeded(t).lines())
	}
}

// Signals reach ranks whose constructors wait for ever.
func TestPrivateStuckStart(t *testing.T) {
	program := posix(t, "starting")
	for _, number := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		t.Run(unix.SignalName(number), func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := start(t, nil, built(t, "bin/mpiexec"), "-n", "4", "-rpp", "4", "-tpsl", "private", program)
			require.NoError(t, job.Process.Signal(number))
			require.Eventually(t, func() bool { return len(job.processes()) == 0 }, soon, 20*time.Millisecond, "processes of the job are left")
		})
	}
}

// Ranks that are asked to end have the launcher's two seconds, also when another one of their set ends at once.
func TestPrivateGrace(t *testing.T) {
	testsupport.NothingLeft(t)
	program := posix(t, "saves")
	asked := func(options string) (job outcome) {
		for seconds := 2; seconds <= 32; seconds *= 2 { // the time limit counts from mpiexec's start, and on a busy machine ranks start late
			job = mpiexec(t, nil, fmt.Sprintf("-n 2 %s -timeout %d", options, seconds), program)
			if strings.Contains(job.stdout, "ready\n") {
				break
			}
		}
		return job
	}
	want, got := asked(""), asked("-rpp 2 -tpsl private")
	assert.Equal(t, "ready\nsaved\n", want.stdout)
	assert.Equal(t, want.stdout, got.stdout)
	assert.Equal(t, want.code, got.code)
}

// The backtrace of a Fortran program has the lines of a flat rank's.
func TestPrivateFortranBacktrace(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "gfortran")
	program := testsupport.CC(t, "gfortran", "testdata/stops.f90", "-g")
	backtrace := func(options string) (lines []string) {
		job := mpiexec(t, nil, options, program)
		assert.Equal(t, 1, job.code)
		for line := range strings.Lines(job.stderr) {
			if strings.Contains(line, "stops.f90") || strings.Contains(line, "the end") {
				lines = append(lines, line[strings.LastIndex(line, "/")+1:])
			}
		}
		return lines
	}
	want := backtrace("-n 1")
	assert.Contains(t, strings.Join(want, ""), "stops.f90:10\n")
	assert.Equal(t, want, backtrace("-n 1 -rpp 1 -tpsl private"))
}
