// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// soon is when a job must be over: before anything times out, which would take a minute.
const soon = 30 * time.Second

// command is mpiexec on a host. options are words as a user types them.
func command(t *testing.T, host testsupport.Host, options string, program ...string) []string {
	t.Helper()
	return host.Inside(slices.Concat([]string{built(t, "bin/mpiexec")}, strings.Fields(options), program)...)
}

// from runs mpiexec on a host to its end. Nothing may be left on any host then.
func from(t *testing.T, hosts []testsupport.Host, options string, program ...string) outcome {
	t.Helper()
	// UCX takes the loopback of all hosts for one network, with any launcher.
	out := run(t, []string{"UCX_NET_DEVICES=eth0"}, command(t, hosts[0], options, program...)...)
	quiet(t, hosts)
	return out
}

// quiet waits until nothing runs on the hosts but sshd.
func quiet(t *testing.T, hosts []testsupport.Host) {
	t.Helper()
	require.Eventually(t, func() bool { return len(guests(hosts, "")) == 0 }, soon, 20*time.Millisecond, "left on the hosts")
}

// guests lists the processes on hosts that are not the hosts' own, and whose command line matches a pattern.
func guests(hosts []testsupport.Host, pattern string) []int {
	return slices.DeleteFunc(processes(hosts, pattern), func(pid int) bool {
		words := testsupport.CommandLine(pid)
		return words == "" || strings.HasPrefix(words, "sshd:") || words == "sleep infinity" // "": it has ended meanwhile
	})
}

// processes lists those on hosts whose command line matches a pattern.
func processes(hosts []testsupport.Host, pattern string) (found []int) {
	match := regexp.MustCompile(pattern).MatchString
	for _, host := range hosts {
		for _, pid := range host.Processes() {
			if words := testsupport.CommandLine(pid); words != "" && match(words) {
				found = append(found, pid)
			}
		}
	}
	return found
}

// A running is a job that the test looks at while it runs.
type running struct {
	*exec.Cmd
	hosts  []testsupport.Host
	errOut bytes.Buffer
}

// begin starts a job on the first host.
func begin(t *testing.T, hosts []testsupport.Host, options string, program ...string) *running {
	t.Helper()
	argv := command(t, hosts[0], options, program...)
	r := &running{Cmd: exec.Command(argv[0], argv[1:]...), hosts: hosts}
	r.Stderr = &r.errOut
	r.WaitDelay = 5 * time.Second
	require.NoError(t, r.Start())
	t.Cleanup(func() { _ = r.Process.Kill() })
	return r
}

// await waits until there are n processes whose command line matches.
func (r *running) await(t *testing.T, n int, pattern string) []int {
	t.Helper()
	var found []int
	require.Eventually(t, func() bool { found = guests(r.hosts, pattern); return len(found) == n }, soon, 10*time.Millisecond, pattern)
	return found
}

// end waits for the end of the job, which must be soon, and returns the exit code and what was said.
func (r *running) end(t *testing.T) (int, string) {
	t.Helper()
	code := r.wait(t)
	quiet(t, r.hosts)
	return code, r.errOut.String()
}

func (r *running) wait(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(soon, func() { _ = r.Process.Kill() })
	_ = r.Wait()
	assert.True(t, timer.Stop(), "the job does not end")
	return r.ProcessState.ExitCode()
}

func TestHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	hosts := testsupport.Hosts(t, "a", "b", "c")
	t.Run("flat", func(t *testing.T) {
		out := from(t, hosts, "-hosts a,b,c -n 3", testsupport.CC(t, "mpicc.mpich", "testdata/far.c"))
		assert.Equal(t, "far: 3 ranks, 0 wrong\n", out.stdout)
		assert.Zero(t, out.code, out.stderr)
	})
	t.Run("sets", func(t *testing.T) {
		out := from(t, hosts, "-hosts b,c -ppn 2 -n 4 -rpp 2", fixture(t, "far"))
		assert.Equal(t, "far: 4 ranks, 0 wrong\n", out.stdout)
		assert.Zero(t, out.code, out.stderr)
	})
	t.Run("names", func(t *testing.T) {
		out := from(t, hosts, "-hosts a,b,10.78.0.3 -l", "hostname").succeeded(t)
		assert.Equal(t, []string{"[0] a\n", "[1] b\n", "[2] c\n"}, out.lines())
	})
	t.Run("codes", func(t *testing.T) {
		assert.Equal(t, 3, from(t, hosts, "-hosts b,c -n 2", "sh", "-c", "exit $((PMI_RANK + 2))").code)
	})
	t.Run("tree", func(t *testing.T) {
		out := from(t, hosts, "-fanout 1 -hosts b,c -n 2", testsupport.CC(t, "mpicc.mpich", "testdata/far.c"))
		assert.Equal(t, "far: 2 ranks, 0 wrong\n", out.stdout)
		assert.Zero(t, out.code, out.stderr)
	})
	t.Run("who listens", func(t *testing.T) { whoListens(t, hosts) })
	t.Run("start-up files", func(t *testing.T) { startupFiles(t, hosts) })
	t.Run("no mpiexec there", func(t *testing.T) { noMpiexecThere(t, hosts) })
	t.Run("killed", func(t *testing.T) { killedOnTheWay(t, hosts) })
	t.Run("silent", func(t *testing.T) { silentHosts(t, hosts) })
	t.Run("mpiexec stopped", func(t *testing.T) { mpiexecStopped(t, hosts) })
	t.Run("no sshd", func(t *testing.T) { noSSHD(t, hosts) })
}

// A shell's start-up file may print, and may say that there is no proxy at all.
func startupFiles(t *testing.T, hosts []testsupport.Host) {
	home := t.TempDir() // not the user's, in which the repository may be
	inB := func(input, script string) {
		cmd := exec.Command("sh", "-c", `exec "$@"`, "sh")
		cmd.Args = append(cmd.Args, hosts[1].Inside("sh", "-ec", script)...)
		cmd.Stdin = strings.NewReader(input)
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
	}
	inB("", fmt.Sprintf("awk -F: -v OFS=: -v user=$(id -u) '$3 == user { $6 = \"%s\" } 1' /etc/passwd >%[1]s/passwd; mount --bind %[1]s/passwd /etc/passwd", home))
	t.Cleanup(func() { inB("", "umount /etc/passwd") })
	profile := func(text string) { inB(text, "cat >"+home+"/.bashrc") }
	profile("echo welcome; printf 'no newline'")
	assert.Equal(t, "b\n", from(t, hosts, "-hosts b", "hostname").succeeded(t).stdout)
	profile("echo this account is closed; exit 1")
	out := from(t, hosts, "-hosts b", "hostname")
	assert.Equal(t, 255, out.code)
	assert.Equal(t, "mpiexec: host b: printed \"this account is closed\" (ssh ended with 1)\n", out.stderr)
}

func noMpiexecThere(t *testing.T, hosts []testsupport.Host) {
	folder := filepath.Dir(built(t, "bin/mpiexec"))
	_, errOut, code := testsupport.Run(t, limit, nil, hosts[2].Inside("mount", "-t", "tmpfs", "none", folder)...)
	require.Zero(t, code, errOut)
	out := from(t, hosts, "-hosts a,b,c", "sleep", "60")
	assert.Equal(t, 255, out.code)
	assert.Regexp(t, `^mpiexec: host c: .*: `+folder+`/mpiexec: No such file or directory \(ssh ended with 127\)\n$`, out.stderr)
	_, errOut, code = testsupport.Run(t, limit, nil, hosts[2].Inside("umount", folder)...)
	require.Zero(t, code, errOut)
}

// Whatever dies on the way, all ranks end and the host is named.
func killedOnTheWay(t *testing.T, hosts []testsupport.Host) {
	for text, want := range map[string]string{
		"^ssh -x":   "proxy on b died (ssh was killed by SIGKILL); rank 1 lost",
		"\\+proxy$": "proxy on b died (", // by ssh's word, or its end
	} {
		job := begin(t, hosts, "-hosts a,b", "sleep", "3600")
		job.await(t, 2, "^sleep 3600")
		victims := guests(hosts[:1], text)
		if !strings.HasPrefix(text, "^ssh") {
			victims = guests(hosts[1:], text)
		}
		require.NotEmpty(t, victims)
		for _, pid := range victims {
			require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		}
		code, said := job.end(t)
		assert.Equal(t, 255, code)
		assert.Contains(t, said, want)
	}
}

// A host that is stopped, or cannot be reached any more, is named; so is one that never answers. One that is cut off ends its ranks:
// its own link is down, or the one of mpiexec's host, which looks as if that were gone.
func silentHosts(t *testing.T, hosts []testsupport.Host) {
	t.Setenv("TPSL_SILENCE", "5") // not so short that a busy machine is silent for as long
	signalAll := func(host testsupport.Host, sig unix.Signal) {
		for _, pid := range host.Processes() {
			_ = unix.Kill(pid, sig)
		}
	}
	link := func(host testsupport.Host, state string) {
		_, errOut, code := testsupport.Run(t, limit, nil, host.Inside("ip", "link", "set", "eth0", state)...)
		require.Zero(t, code, errOut)
	}
	for _, what := range []struct {
		away, back func()
		isCut      bool
	}{
		{func() { signalAll(hosts[1], unix.SIGSTOP) }, func() { signalAll(hosts[1], unix.SIGCONT) }, false},
		{func() { link(hosts[1], "down") }, func() { link(hosts[1], "up") }, true},
		{func() { link(hosts[0], "down") }, func() { link(hosts[0], "up") }, true},
	} {
		job := begin(t, hosts, "-hosts a,b", "sleep", "3600")
		job.await(t, 2, "^sleep 3600")
		what.away()
		code := job.wait(t)
		if what.isCut {
			job.await(t, 0, "^sleep 3600")
		}
		what.back()
		quiet(t, hosts)
		assert.Equal(t, 255, code)
		assert.Equal(t, "mpiexec: proxy on b died (nothing was heard from it for 5s); rank 1 lost\n", job.errOut.String())
	}
	t.Setenv("HYDRA_LAUNCH_TIMEOUT", "5")
	signalAll(hosts[2], unix.SIGSTOP)
	job := begin(t, hosts, "-hosts a,c", "sleep", "3600")
	assert.Equal(t, 255, job.wait(t))
	signalAll(hosts[2], unix.SIGCONT)
	quiet(t, hosts)
	assert.Equal(t, "mpiexec: host c: no answer within 5s; HYDRA_LAUNCH_TIMEOUT may say more\n", job.errOut.String())
}

// A job goes on while its mpiexec is stopped, and after. Its ranks wait until the test lets go of a lock.
func mpiexecStopped(t *testing.T, hosts []testsupport.Host) {
	t.Setenv("TPSL_SILENCE", "5")
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	job := begin(t, hosts, "-hosts a,b", "flock", "-s", lock.Name(), "true")
	job.await(t, 2, "^flock -s")
	pids := guests(hosts[:1], "mpiexec -hosts")
	require.Len(t, pids, 1)
	require.NoError(t, unix.Kill(pids[0], unix.SIGSTOP))
	time.Sleep(6500 * time.Millisecond) // beyond the limit
	require.Len(t, guests(hosts, "^flock -s"), 2)
	require.Eventually(t, func() bool { return stands(job.Process.Pid) }, soon, time.Millisecond) // nsenter stops with mpiexec
	require.NoError(t, job.Process.Signal(unix.SIGCONT))                                          // and passes this on
	require.NoError(t, unix.Kill(pids[0], unix.SIGCONT))
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	code, said := job.end(t)
	assert.Zero(t, code, said)
}

// over reports whether a process has ended, and its descriptors are closed: nobody on a host waits for orphans.
func over(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || stat[bytes.LastIndexByte(stat, ')')+2] == 'Z'
}

// A host without sshd ends the job at once; ranks on the others end.
func noSSHD(t *testing.T, hosts []testsupport.Host) {
	for _, pid := range hosts[2].Processes() {
		_ = unix.Kill(pid, unix.SIGKILL)
		require.Eventually(t, func() bool { return over(pid) }, soon, time.Millisecond) // until then, its socket takes connections
	}
	began := time.Now()
	out := from(t, hosts, "-hosts a,b,c", "sleep", "3600")
	assert.Less(t, time.Since(began), soon)
	assert.Equal(t, 255, out.code)
	want := "mpiexec: host c: ssh: connect to host c port 22: Connection refused (ssh ended with 255)\n"
	assert.Equal(t, want, out.stderr)
	out = from(t, hosts, "-fanout 1 -hosts a,b,c", "sleep", "3600") // b has to reach c
	assert.Equal(t, 255, out.code)
	assert.Equal(t, want, out.stderr)
}

// Nothing of the launcher listens but mpiexec, where users ask about their job, and no command line has what belongs to the user or the job.
func whoListens(t *testing.T, hosts []testsupport.Host) {
	t.Setenv("USERS_SECRET", "hunter2")
	job := begin(t, hosts, "-hosts a,b,c", "sleep", "3600")
	job.await(t, 3, "^sleep 3600")
	pids := guests(hosts, "")
	assert.GreaterOrEqual(t, len(pids), 3*2+2+1, "ranks, proxies, two of ssh, mpiexec")
	var listens []string
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		require.NoError(t, err)
		assert.NotContains(t, string(line), "hunter2")
		assert.NotRegexp(t, "[0-9a-f]{64}", string(line))
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		require.NoError(t, err)
		assert.NotRegexp(t, "[0-9a-f]{64}", string(environ))
		listens = append(listens, listening(t, pid)...)
	}
	require.Len(t, listens, 1)
	assert.Regexp(t, `@tpsl/mpiexec/\d+\n$`, listens[0])
	require.NoError(t, unix.Kill(guests(hosts[:1], "mpiexec -hosts")[0], unix.SIGKILL))
	_, _ = job.end(t)
}

// listening lists the sockets of a process that accept connections: tcp(5), unix(7).
func listening(t *testing.T, pid int) (found []string) {
	t.Helper()
	own := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NotEmpty(t, links)
	for _, link := range links {
		target, _ := os.Readlink(link)
		own[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
	}
	for table, column := range map[string][3]string{
		"tcp": {"3", "0A", "9"}, "tcp6": {"3", "0A", "9"}, "unix": {"3", "00010000", "6"},
	} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		require.NoError(t, err)
		var state, inode int
		_, _ = fmt.Sscan(column[0]+" "+column[2], &state, &inode)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > inode && f[state] == column[1] && own[f[inode]] {
				found = append(found, line)
			}
		}
	}
	return found
}
