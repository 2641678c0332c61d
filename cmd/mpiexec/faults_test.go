// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// moments are the points of a job's life at which something is killed.
var moments = []time.Duration{0, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 150 * time.Millisecond}

// stubborn ignores what can be ignored and has a child in a session of its own.
const stubborn = "trap '' TERM INT HUP; setsid sleep 60 & sleep 60"

func TestKillRank(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, args := range [][]string{{probe(t), "wait"}, {"sh", "-c", stubborn}} {
		for _, moment := range moments {
			j := launch(t, nil, append([]string{"mpiexec", "-n", "3"}, args...)...)
			ranks := j.awaitRanks(t, 3)
			time.Sleep(moment)
			_ = unix.Kill(ranks[1], unix.SIGKILL)
			assert.Equal(t, 9, j.end(t))
			assert.Contains(t, j.errOut.String(), "was killed by SIGKILL (9, ")
		}
	}
}

// With Hydra the ranks live on and mpiexec notices nothing until they end.
func TestKillProxy(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, args := range [][]string{{probe(t), "wait"}, {"sh", "-c", stubborn}} {
		for _, moment := range moments {
			j := launch(t, nil, append([]string{"mpiexec", "-n", "3"}, args...)...)
			var proxy int
			require.Eventually(t, func() bool { proxy, _ = j.family(); return proxy != 0 }, patience, time.Millisecond)
			time.Sleep(moment)
			killed := time.Now()
			require.NoError(t, unix.Kill(proxy, unix.SIGKILL))
			assert.Equal(t, 255, j.end(t))
			assert.Less(t, time.Since(killed), 15*time.Second)
			// The first moment comes before the proxy has answered.
			assert.Regexp(t, `died \(signal: killed\); ranks 0-2 lost|mpiexec: host \S+: signal: killed`, j.errOut.String())
		}
	}
}

// A process that does not die keeps neither the output of the job nor what else is done at its end.
func TestProcessThatDoesNotDie(t *testing.T) {
	dir := t.TempDir()
	end, report := filepath.Join(dir, "end"), filepath.Join(dir, "report")
	segment := filepath.Join("/dev/shm", fmt.Sprintf("mpich_shar_tmp%d", os.Getpid()))
	t.Cleanup(func() { _ = os.Remove(segment) })
	script := `sleep 60 & printf 'unfinished' >&2; >$1; printf 'output of process '; echo $!; printf unfinished; until [ -e "$0" ]; do sleep 0.02; done; kill -9 $$`
	out, stdout := pipe(t)
	j := launchTo(t, nil, stdout, "mpiexec", "-report", report, "-n", "1", "sh", "-c", script, end, segment)
	j.reader = newCollector(out)
	j.reader.await(t, "\n", 1)
	var pid int
	_, err := fmt.Sscanf(j.reader.text(), "output of process %d", &pid)
	require.NoError(t, err)
	release := holdAtExit(t, pid)
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	_ = j.Wait() // the exit code is looked at below
	release()
	assert.Equal(t, 9, j.ProcessState.ExitCode())
	assert.Contains(t, j.errOut.String(), "some processes of the job could not be killed")
	assert.Regexp(t, `(?m)^unfinished$`, j.errOut.String())
	assert.Regexp(t, `"stderr": \[\s*"unfinished"`, fileText(t, report))
	assert.Regexp(t, `\nunfinished\z`, j.reader.text())
	assert.NoFileExists(t, segment)
	require.Eventually(t, func() bool { return len(j.processes()) == 0 }, patience, 20*time.Millisecond)
	for _, group := range j.newGroups() { // the kernel keeps it until the process has left it, later than its memory
		require.Eventually(t, func() bool { err := os.Remove(group); return err == nil || os.IsNotExist(err) }, patience, 20*time.Millisecond, group)
	}
}

// holdAtExit lets a process not end, even by SIGKILL, until release is called: a tracer holds it while it exits (ptrace(2)).
func holdAtExit(t *testing.T, pid int) (release func()) {
	t.Helper()
	held, over, released := make(chan unix.Errno), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the tracer is a thread
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, unix.PTRACE_O_TRACEEXIT, 0, 0)
		held <- errno
		<-over
		_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, 0, 0, 0)
		close(released)
	}()
	if errno := <-held; errno != 0 {
		testsupport.Unable(t, "cannot trace a process: %v", errno)
	}
	release = sync.OnceFunc(func() { close(over); <-released })
	t.Cleanup(release)
	return release
}

// With nobody left to clean up the kernel ends the ranks, and the keeper of their control group what they started.
func TestKillProxyAndMpiexec(t *testing.T) {
	program := []string{"sleep", "60"}
	if canGroup() {
		program = []string{"sh", "-c", stubborn}
	}
	j := launch(t, nil, append([]string{"mpiexec", "-n", "2"}, program...)...)
	j.awaitRanks(t, 2)
	if canGroup() {
		require.Eventually(t, func() bool { return len(keepers(j.Process.Pid)) == 1 }, patience, 5*time.Millisecond)
	}
	proxy, _ := j.family()
	stop(t, j.Process.Pid) // it must not see the proxy die
	require.NoError(t, unix.Kill(proxy, unix.SIGKILL))
	require.NoError(t, unix.Kill(j.Process.Pid, unix.SIGKILL))
	j.end(t)
}

// canGroup reports whether a control group can be made here. CI must be able to.
func canGroup() bool {
	g := procs.NewGroup(fmt.Sprintf("test_%d", os.Getpid()))
	if g == nil && os.Getenv("CI") == "true" {
		panic("no control group of version 2 can be made here, and CI must")
	}
	g.Remove()
	return g != nil
}

// keepers finds the keepers of a job's control groups.
func keepers(mpiexec int) (found []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		cmdline, _ := os.ReadFile(path)
		if strings.Contains(string(cmdline), fmt.Sprintf("/tpsl_kvs_%d_", mpiexec)) {
			found = append(found, path)
		}
	}
	return found
}

// groups finds the control groups of jobs.
func groups() map[string]bool {
	found := map[string]bool{}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), "tpsl_kvs_") {
			found[path] = true
		}
		return nil
	})
	return found
}

// newGroups finds the job's control groups. Another pid namespace may have, or have had, a process of its number.
func (j *job) newGroups() (found []string) {
	for path := range groups() {
		if !j.groupsBefore[path] && strings.Contains(path, fmt.Sprintf("/tpsl_kvs_%d_", j.Process.Pid)) {
			found = append(found, path)
		}
	}
	return found
}

func TestEndProxyPolitely(t *testing.T) {
	j := launch(t, nil, "mpiexec", "-n", "2", "sleep", "60")
	j.awaitRanks(t, 2)
	proxy, _ := j.family()
	require.NoError(t, unix.Kill(proxy, unix.SIGTERM))
	assert.Equal(t, 255, j.end(t))
	assert.Contains(t, j.errOut.String(), "proxy ended by signal")
}

func TestKillMpiexec(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, args := range [][]string{{probe(t), "wait"}, {"sh", "-c", stubborn}} {
		for _, moment := range moments {
			j := launch(t, nil, append([]string{"mpiexec", "-n", "3"}, args...)...)
			time.Sleep(moment)
			require.NoError(t, unix.Kill(j.Process.Pid, unix.SIGKILL))
			j.end(t)
		}
	}
}

// A proxy that somebody has stopped goes on when mpiexec is killed, and ends its ranks. So do proxies that lead to others.
func TestKillMpiexecOfStoppedProxy(t *testing.T) {
	testsupport.NothingLeft(t)
	j := launch(t, nil, "mpiexec", "-n", "2", "sleep", "60")
	j.awaitRanks(t, 2)
	proxy, _ := j.family()
	stop(t, proxy)
	require.NoError(t, unix.Kill(j.Process.Pid, unix.SIGKILL))
	j.end(t)

	j = launchTree(t, "sleep", "60")
	j.awaitSleepers(t)
	for _, relay := range j.relays() {
		stop(t, relay)
	}
	require.NoError(t, unix.Kill(j.Process.Pid, unix.SIGKILL))
	j.end(t)
}

// Whatever is killed whenever, from start-up to shutdown of an MPI job on one host, two, or in a tree of proxies, the job ends
// soon and leaves nothing. TPSL_TEST_LARGE=1 asks for 200 times.
func TestKillAtRandom(t *testing.T) {
	testsupport.NothingLeft(t)
	times := testsupport.Times(20, 200)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	places := [][]string{nil, {"-launcher", "fork", "-hosts", "a,b"}, {"-launcher", "fork", "-hosts", "a,b,c", "-fanout", "1"}}
	command := func(place []string) []string {
		return slices.Concat([]string{"mpiexec"}, place, []string{"-n", "4", probe(t)})
	}
	life := limit
	for range 3 {
		j := launch(t, nil, command(places[1])...)
		require.NoError(t, j.Wait(), j.errOut.String())
		life = min(life, time.Since(j.started))
		j.nothingLeft(t)
	}
	// 0: it was done. A process on its way out takes a signal and ends as it was going to, mpiexec too.
	wanted := map[string][]int{"nothing": {0}, "mpiexec": {-1, 0}, "rank": {0, 9}, "proxy": {0, 255}, "child": {0, 9, 255}}
	ends := map[string]int{}
	for range times {
		j := launch(t, nil, command(places[random.IntN(len(places))])...)
		time.Sleep(time.Duration(random.Int64N(int64(life))))
		victim := j.killAny(random)
		code := j.end(t)
		took := time.Since(j.started) - life
		assert.Less(t, took, patience, "seed %d, %s killed: %s", seed, victim, j.errOut.String())
		assert.Contains(t, wanted[victim], code, "seed %d, %s killed: %s", seed, victim, j.errOut.String())
		ends[fmt.Sprintf("%s %d", victim, code)]++
	}
	t.Logf("life %v, killed and exit code: %v", life, ends)
}

// killAny kills one process of the job and says which. A child has not become a proxy or a rank yet.
func (j *job) killAny(random *rand.Rand) string {
	pids := j.processes()
	if len(pids) == 0 {
		return "nothing"
	}
	pid := pids[random.IntN(len(pids))]
	line, killed := testsupport.Kill(pid)
	switch {
	case !killed:
		return "nothing"
	case pid == j.Process.Pid:
		return "mpiexec"
	case line == "":
		return "child"
	case strings.HasSuffix(line, " +proxy"):
		return "proxy"
	}
	return "rank"
}

// Short jobs on many hosts end well while stdin still comes: mpiexec.hydra dies of SIGPIPE in half of such runs.
func TestShortJobsOnManyHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	for range 4 {
		j := launch(t, strings.NewReader("text\n"), "mpiexec", "-launcher", "fork", "-hosts", "h[1-16]", "-n", "16", "true")
		require.Zero(t, j.end(t), j.errOut.String())
		require.Empty(t, j.errOut.String())
	}
}

// A rank that talks nonsense over PMI is told so; the others and the launcher go on.
func TestNonsenseOverPMI(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	script := `[ $PMI_RANK = 1 ] || exit 0
head -c 1000000 /dev/zero | tr '\0' x >&3
printf '\ngarbage\ncmd=nosuch\nmcmd=spawn\nnprocs=1\nendcmd\n' >&3
for i in 1 2 3 4; do read reply <&3; done
echo $reply
printf cmd=get_app >&3`
	j, code := runJob(t, "-n", "2", "bash", "-c", script)
	assert.Zero(t, code, j.errOut.String())
	assert.Equal(t, "cmd=spawn_result rc=1 msg=malformed_request\n", j.out.String())
	for _, text := range []string{
		"mpiexec: rank 1 on " + host + ": PMI request longer than 65536 bytes\n",
		"mpiexec: rank 1 on " + host + ": PMI request without a command: \"garbage\"\n",
		"mpiexec: rank 1 on " + host + ": unknown PMI command \"nosuch\"\n",
		"mpiexec: rank 1 on " + host + ": PMI spawn: malformed request\n",
		"mpiexec: rank 1 on " + host + ": PMI connection ended in the middle of a request\n",
	} {
		assert.Contains(t, j.errOut.String(), text)
	}
}

// Ranks that are warned of the same thing, and processes that say the same in the words of our libraries, are told in one line.
func TestSameOfManyRanks(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	script := `ask() { echo "$1" >&3; read reply <&3; }
ask "cmd=init pmi_version=1 pmi_subversion=1"
ask cmd=barrier_in
ask cmd=nosuch
ask cmd=finalize
echo "tpsl: slots are 0 to 1; you passed 2" >&2`
	warning := "mpiexec: ranks 0-3 on " + host + `: unknown PMI command "nosuch"` + "\n"
	var said string
	for range 5 { // on a busy machine ranks may go on from the barrier too far apart
		j, code := runJob(t, "-n", "4", "bash", "-c", script)
		assert.Zero(t, code)
		if said = j.errOut.String(); strings.Contains(said, warning) {
			break
		}
	}
	assert.Contains(t, said, warning)
	assert.Equal(t, 1, strings.Count("\n"+said, "\ntpsl: "), said)
	assert.Regexp(t, `\nmpiexec: ranks 0-3 on `+regexp.QuoteMeta(host)+` said: tpsl: slots are 0 to 1; you passed 2\n$`, said)
}

// A rank that closes its PMI connection and stays ends the job.
func TestPMIConnectionClosed(t *testing.T) {
	script := `[ $PMI_RANK = 1 ] || exec sleep 60
echo cmd=init pmi_version=1 pmi_subversion=1 >&3
read reply <&3
exec 3>&-
sleep 60`
	j, code := runJob(t, "-n", "2", "bash", "-c", script)
	assert.Equal(t, 1, code)
	assert.Contains(t, j.errOut.String(), "rank 1 (bash on")
	assert.Contains(t, j.errOut.String(), "closed its PMI connection without MPI_Finalize")
}
