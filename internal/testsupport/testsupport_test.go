// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// recorder is a test that may fail without failing the test that runs it.
type recorder struct {
	testing.TB
	cleanups          []func()
	skipped, complain string
}

// record runs f as a test of its own, clean-up included.
func record(f func(t testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, c := range r.cleanups {
				c()
			}
		}()
		f(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper()                        {}
func (r *recorder) Cleanup(f func())               { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, a ...any) { r.complain += fmt.Sprintf(format, a...) }
func (r *recorder) Fatalf(format string, a ...any) { r.Errorf(format, a...); runtime.Goexit() }
func (r *recorder) Fatal(a ...any)                 { r.Fatalf("%s", fmt.Sprint(a...)) }
func (r *recorder) Skipf(format string, a ...any) {
	r.skipped += fmt.Sprintf(format, a...)
	runtime.Goexit()
}

func TestRequire(t *testing.T) {
	cases := map[string]struct{ ci, tool, skipped, complain string }{
		"present":       {"true", "sh", "", ""},
		"missing":       {"", "no-such-tool", "no-such-tool is not installed", ""},
		"missing in CI": {"true", "no-such-tool", "", "no-such-tool is not installed, and CI must have it"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", c.ci)
			r := record(func(t testing.TB) { Require(t, c.tool) })
			assert.Equal(t, c.skipped, r.skipped)
			assert.Equal(t, c.complain, r.complain)
		})
	}
}

func TestCC(t *testing.T) {
	Require(t, "gcc")
	NothingLeft(t)
	src := filepath.Join(t.TempDir(), "exit.c")
	require.NoError(t, os.WriteFile(src, []byte("int main(void) { return CODE; }\n"), 0o666))

	three := CC(t, "gcc", src, "-DCODE=3")
	_, _, code := Run(t, time.Minute, nil, three)
	assert.Equal(t, 3, code)
	four := CC(t, "gcc", src, "-DCODE=4")
	assert.NotEqual(t, three, four, "other flags, other program")
	assert.Equal(t, three, CC(t, "gcc", src, "-DCODE=3"))

	before, err := os.Stat(three)
	require.NoError(t, err)
	fixtures.Clear() // as in another test binary
	require.Equal(t, three, CC(t, "gcc", src, "-DCODE=3"))
	after, err := os.Stat(three)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "who runs it has it still")
	require.NoError(t, os.WriteFile(src, []byte("int main(void) { return CODE + 1; }\n"), 0o666))
	fixtures.Clear()
	_, _, code = Run(t, time.Minute, nil, CC(t, "gcc", src, "-DCODE=3"))
	assert.Equal(t, 4, code, "the source has changed")

	r := record(func(t testing.TB) { CC(t, "gcc", src, "-DCODE=undeclared") })
	assert.Contains(t, r.complain, "undeclared")
}

func TestRun(t *testing.T) {
	NothingLeft(t)
	out, errOut, code := Run(t, time.Minute, []string{"WORD=hi"}, "sh", "-c", "echo $WORD; echo ho >&2; exit 7")
	assert.Equal(t, "hi\n", out)
	assert.Equal(t, "ho\n", errOut)
	assert.Equal(t, 7, code)

	_, _, code = Run(t, time.Minute, nil, "sh", "-c", "kill -TERM $$")
	assert.Equal(t, 128+15, code)
}

func TestRunKillsAtTheLimit(t *testing.T) {
	NothingLeft(t)
	begin := time.Now()
	r := record(func(t testing.TB) {
		Run(t, 200*time.Millisecond, nil, "sh", "-c", "sleep 60 & setsid sleep 61 & wait")
	})
	assert.Contains(t, r.complain, "no end in time: 200ms\nstdout:\n")
	assert.Regexp(t, `(?m)^process \d+: sh -c sleep 60 `, r.complain, "what it was doing")
	assert.Less(t, time.Since(begin), 50*time.Second)

	started := filepath.Join(t.TempDir(), "started")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		for _, err := os.Stat(started); err != nil; _, err = os.Stat(started) {
			time.Sleep(time.Millisecond)
		}
		cancel(ErrTimeout)
	}()
	out, _, _, err := OutputContext(ctx, nil, "sh", "-c", "echo started; sleep 60 & setsid sleep 61 & touch $0; wait", started)
	require.ErrorIs(t, err, ErrTimeout)
	assert.Equal(t, "started\n", out)
}

// impatient is for tests of what NothingLeft finds.
func impatient(t *testing.T) {
	t.Helper()
	before := patience
	patience = 100 * time.Millisecond
	t.Cleanup(func() { patience = before })
}

func TestNothingLeftReports(t *testing.T) {
	impatient(t)

	file := fmt.Sprintf("/dev/shm/testsupport-%d", os.Getpid())
	var segment int
	var attached []byte
	var opened *os.File
	sleeper := exec.Command("sleep", "60")
	r := record(func(t testing.TB) {
		NothingLeft(t)
		var err error
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		segment, err = unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		require.NoError(t, err)
		attached, err = unix.SysvShmAttach(segment, 0, 0)
		require.NoError(t, err)
		opened, err = os.Open("/dev/null")
		require.NoError(t, err)
		require.NoError(t, sleeper.Start())
	})
	require.NoError(t, os.Remove(file))
	require.NoError(t, unix.SysvShmDetach(attached))
	_, err := unix.SysvShmCtl(segment, unix.IPC_RMID, nil)
	require.NoError(t, err)
	fd := opened.Fd()
	require.NoError(t, opened.Close())
	require.NoError(t, sleeper.Process.Kill())
	_ = sleeper.Wait()

	assert.Contains(t, r.complain, file)
	assert.Contains(t, r.complain, fmt.Sprintf("SysV segment %d, made by process %d", segment, os.Getpid()))
	assert.Contains(t, r.complain, fmt.Sprintf("process %d: sleep 60", sleeper.Process.Pid))
	assert.Contains(t, r.complain, fmt.Sprintf("descriptor %d: /dev/null", fd))
}

// A file in /dev/shm that a process of another test binary has open or mapped is that one's.
func TestNothingLeftOfOthers(t *testing.T) {
	impatient(t)
	file := fmt.Sprintf("/dev/shm/testsupport-others-%d", os.Getpid())
	other := exec.Command("sleep", "60")
	r := record(func(t testing.TB) {
		NothingLeft(t)
		opened, err := os.Create(file)
		require.NoError(t, err)
		other.ExtraFiles = []*os.File{opened}
		require.NoError(t, other.Start())
		require.NoError(t, opened.Close())
	})
	assert.Contains(t, r.complain, "sleep 60", "here it is a child")
	assert.NotContains(t, r.complain, file)
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	assert.False(t, othersUse(file))
	require.NoError(t, os.Remove(file))
}

// An orphan is seen, also if it becomes another program meanwhile.
func TestNothingLeftSeesOrphans(t *testing.T) {
	impatient(t)
	r := record(func(t testing.TB) {
		NothingLeft(t)
		Run(t, time.Minute, nil, "sh", "-c", "(sleep 0.05; exec sleep 62) >/dev/null 2>&1 &")
	})
	assert.Contains(t, r.complain, "sleep 62")
	for _, pid := range children(os.Getpid()) {
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}
}

func TestSlurm(t *testing.T) {
	NothingLeft(t)
	slurm := Slurm(t, 2, 2)
	out, errOut, code := Run(t, time.Minute, nil, slurm.Inside("srun", "-n", "4", "sh", "-c", "echo $SLURMD_NODENAME $SLURM_PROCID")...)
	require.Zero(t, code, errOut)
	assert.ElementsMatch(t, []string{"n1 0", "n1 1", "n2 2", "n2 3"}, strings.Split(strings.TrimSpace(out), "\n"))
	assert.NotEmpty(t, slurm.Processes())
}

func TestHosts(t *testing.T) {
	NothingLeft(t)
	hosts := Hosts(t, "a", "b", "c")
	out, errOut, code := Run(t, time.Minute, nil, hosts[0].Inside("ssh", "b", "ssh c hostname; hostname")...)
	require.Zero(t, code, errOut)
	assert.Equal(t, "c\nb\n", out)
	assert.Empty(t, errOut)
	Run(t, time.Minute, nil, hosts[1].Inside("ip", "link", "set", "eth0", "down")...)
	_, errOut, code = Run(t, time.Minute, nil, hosts[0].Inside("ssh", "-o", "ConnectTimeout=1", "b", "hostname")...)
	assert.Equal(t, 255, code)
	assert.Contains(t, errOut, "connect to host b")
}

// What a process does is said with gdb, and without.
func TestStacks(t *testing.T) {
	Require(t, "gdb", "sleep")
	NothingLeft(t)
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	sleeps := fmt.Sprintf("%d ", unix.SYS_CLOCK_NANOSLEEP)
	call := fmt.Sprintf("/proc/%d/syscall", cmd.Process.Pid)
	require.Eventually(t, func() bool { return strings.HasPrefix(proc(call), sleeps) }, time.Minute, time.Millisecond)
	thread := fmt.Sprintf(`  thread %d sleep: state S in \w+, system call \d+ 0x.*, ran and waited \d+ \d+ \d+\n`, cmd.Process.Pid)
	head := fmt.Sprintf(`^process %d: sleep 60\n`, cmd.Process.Pid) + thread
	assert.Regexp(t, head+`(?s).*\n#0 .*nanosleep`, Stacks(cmd.Process.Pid))
	t.Setenv("PATH", "")
	assert.Regexp(t, head+`  thread \d+ in the kernel: .*\n$`, Stacks(cmd.Process.Pid))
	assert.Regexp(t, head, Stacks(os.Getpid(), cmd.Process.Pid), "the last process comes first")
	assert.Empty(t, Stacks(1<<22+1), "there is no such process")
	assert.Regexp(t, `^cpu( +\d+){8,}\n`+thread+`$`, Whereabouts(1<<22+1, cmd.Process.Pid))
}
