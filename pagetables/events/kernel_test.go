// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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

	"github.com/tpsl/tpsl/pagetables"
)

// rounds of testdata/load.c.
const rounds = 5000

// load is a program of testdata, waiting.
type load struct {
	pid    int
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startLoad(t *testing.T) *load {
	t.Helper()
	return startProgram(t, "load")
}

func startProgram(t *testing.T, name string) *load {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("gcc", "-O1", "-pthread", "testdata/"+name+".c", "-o", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(file)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		assert.NoError(t, cmd.Wait())
	})
	l := &load{cmd.Process.Pid, stdin, bufio.NewReader(stdout)}
	l.await(t)
	return l
}

// await returns when the program's first thread waits in read(2) for more input.
func (l *load) await(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", l.pid))
		return strings.HasPrefix(string(call), fmt.Sprintf("%d 0x0 ", unix.SYS_READ))
	}, time.Minute, time.Millisecond)
}

// run lets the program do its work and returns what getrusage told it.
func (l *load) run(t *testing.T) (pages, faults, voluntary, involuntary uint64) {
	t.Helper()
	_, err := l.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	_, err = fmt.Fscan(l.stdout, &pages, &faults, &voluntary, &involuntary)
	require.NoError(t, err)
	l.await(t)
	return pages, faults, voluntary, involuntary
}

// name tells a source the files that the program maps.
func (l *load) name(t *testing.T, source Source) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", l.pid))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, pagetables.ReadMappings(f, func(m *pagetables.Mapping) error {
		var file File
		_, err := fmt.Sscanf(m.Device, "%x:%x", &file.Major, &file.Minor)
		file.Inode = m.Inode
		if err != nil || file.Inode == 0 {
			return err
		}
		return source.Name(file, filepath.Base(m.Name))
	}))
}

func TestKernel(t *testing.T) {
	l := startLoad(t)
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	require.Empty(t, k.Absent())
	began := time.Now()
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 7}}, nil))
	l.name(t, k)
	counter := startPerf(t, l.pid)
	pages, faults, voluntary, involuntary := l.run(t)
	s, err := k.Read()
	require.NoError(t, err)
	took := time.Since(began)
	perf := counter.stop()

	// What getrusage(2) and perf count by themselves.
	c := s.Owners[7]
	assert.InEpsilon(t, faults, c[Faults], 0.01)
	assert.InEpsilon(t, voluntary, c[Voluntary], 0.01)
	assert.InDelta(t, involuntary, c[Involuntary], 0.01*float64(voluntary))
	assert.InEpsilon(t, perf["page-faults"], c[Faults], 0.01)
	assert.InEpsilon(t, perf["context-switches"], c[Voluntary]+c[Involuntary], 0.01)
	assert.InDelta(t, perf["cpu-migrations"], c[Migrations], 0.01*float64(perf["cpu-migrations"])+1)

	// One wake a round, and what waited.
	assert.Greater(t, c[Syscalls], 2*uint64(rounds)+c[FutexWaits])
	assert.Less(t, c[Syscalls], 2*uint64(rounds)+c[FutexWaits]+500)
	assert.GreaterOrEqual(t, c[FutexWaits], c[Voluntary]-10)
	assert.Positive(t, c[FutexTime])
	assert.LessOrEqual(t, time.Duration(c[FutexTime]), 2*took)
	assert.LessOrEqual(t, time.Duration(c[OffCPU]), 2*took)

	assert.Contains(t, s.Threads, Thread{l.pid, 7})
	assert.Less(t, s.Threads[Thread{l.pid, 7}][Voluntary], c[Voluntary], "the other thread has ended, and counts")
	assert.Equal(t, pages, s.Faults[7]["load"].Copies)
	assert.GreaterOrEqual(t, s.Faults[7]["anonymous"].Writes, pages)
	var sum uint64
	for _, kinds := range s.Faults[7] {
		sum += kinds.Sum()
	}
	assert.Equal(t, c[Faults], sum)
	assert.Zero(t, s.Lost)
}

// Files that have had the same path, one after the other, share a sum.
func TestKernelFaultsOfOnePath(t *testing.T) {
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	for inode := range uint64(2) {
		require.NoError(t, k.Name(File{Inode: inode + 1}, "replaced"))
		key := kernelFaultKey{Owner: 7, Object: uint32(len(k.files) - 1)}
		counts := kernelFaultCounts{Reads: 1, Writes: 2, Copies: 3, Fetches: 4 + inode}
		require.NoError(t, k.running.Maps[kernelMapFaults].Put(key, counts))
	}
	s, err := k.Read()
	require.NoError(t, err)
	assert.Equal(t, map[int]map[string]FaultKinds{7: {"replaced": {Reads: 2, Writes: 4, Copies: 6, Fetches: 9}}}, s.Faults)
}

func TestKernelOwners(t *testing.T) {
	l := startLoad(t)
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	require.NoError(t, k.Follow(nil, []Thread{Thread{l.pid, 7}, Thread{1 << 22, 7}}), "there is no such thread")
	_, faults, _, _ := l.run(t)
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 8}}, nil))
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 8}}, nil))
	require.NoError(t, k.Follow(nil, []Thread{Thread{l.pid, 9}}))
	s, err := k.Read()
	require.NoError(t, err)
	assert.InEpsilon(t, faults, s.Owners[7][Faults], 0.01, "what it did before")
	assert.Contains(t, s.Owners, 8)
	assert.NotContains(t, s.Owners, 9)
	assert.Zero(t, s.Owners[8][Faults])
}

// A kernel without a tracepoint lacks what that counts, and nothing else.
func TestAbsent(t *testing.T) {
	spec, err := loadKernel()
	require.NoError(t, err)
	spec.Programs[kernelProgMigrate].AttachTo = "no_such_tracepoint"
	spec.Programs[kernelProgLeave].AttachTo = "no_such_tracepoint"
	k, err := start(spec)
	require.NoError(t, err)
	defer k.Close()
	assert.Equal(t, []Figure{FutexTime, Migrations}, k.Absent())
	l := startLoad(t)
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 7}}, nil))
	l.run(t)
	s, err := k.Read()
	require.NoError(t, err)
	assert.NotContains(t, s.Owners[7], Migrations)
	assert.NotContains(t, s.Owners[7], FutexTime)
	assert.Positive(t, s.Owners[7][FutexWaits])
}

// Without its capabilities even root is told which it takes.
func TestDenied(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with its goroutine
		var none [2]unix.CapUserData
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			done <- err
			return
		}
		_, err := Start()
		done <- err
	}()
	err := <-done
	require.ErrorIs(t, err, ErrDenied)
	assert.Equal(t, ErrDenied.Error(), err.Error(), "our own words, and no more")
}

func TestClose(t *testing.T) {
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	warm, err := Start() // what the library keeps
	require.NoError(t, err)
	require.NoError(t, warm.Close())
	files, goroutines := descriptors(), runtime.NumGoroutine()
	k, err := Start()
	require.NoError(t, err)
	_, err = k.Read()
	require.NoError(t, err)
	assert.Greater(t, descriptors(), files)
	require.NoError(t, k.Close())
	assert.LessOrEqual(t, descriptors(), files)
	for limit := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines && time.Now().Before(limit); {
		time.Sleep(time.Millisecond) // one that has said its last word is counted until it has ended
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
}

func FuzzTasks(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		tasks, err := readTasks(bytes.NewReader(text))
		if err == nil {
			assert.LessOrEqual(t, len(tasks), len(text)/12)
		}
		assert.Equal(t, len(text)%12 != 0, err != nil)
	})
}

// A thread that sleeps all the time is on no CPU, and one that waits, waits, although neither has come back yet.
func TestKernelStillWaiting(t *testing.T) {
	l := startLoad(t) // reads its input
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 7}}, nil))
	const while = 100 * time.Millisecond
	time.Sleep(while)
	first, err := k.Read()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Duration(first.Owners[7][OffCPU]), while)
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 8}}, nil))
	time.Sleep(while)
	s, err := k.Read()
	require.NoError(t, err)
	for _, owner := range []int{7, 8} {
		assert.GreaterOrEqual(t, time.Duration(s.Owners[owner][OffCPU]), while, "owner %d", owner)
		assert.Less(t, time.Duration(s.Owners[owner][OffCPU]), time.Minute, "owner %d", owner)
	}
}

// What ends while it is read is counted once: no sum falls.
func TestKernelThreadsEnd(t *testing.T) {
	l := startProgram(t, "short")
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	require.NoError(t, k.Follow([]Thread{Thread{l.pid, 7}}, nil))
	_, err = l.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	last := Counts{}
	const enough = 10_000 // calls; a busy machine takes longer for them
	for begin := time.Now(); time.Since(begin) < 2*time.Second || last[Syscalls] <= enough && time.Since(begin) < 2*time.Minute; {
		s, err := k.Read()
		require.NoError(t, err)
		for figure, n := range s.Owners[7] {
			require.GreaterOrEqual(t, n, last[figure], figure)
		}
		last = s.Owners[7]
	}
	assert.Greater(t, last[Syscalls], uint64(enough))
}

// A thread that ended before it was followed does not lend its entry to the next one of its number.
func TestKernelForgets(t *testing.T) {
	const nobody = 1<<22 - 1 // above the numbers of kernels that have not started so many
	k, err := Start()
	require.NoError(t, err)
	defer k.Close()
	require.NoError(t, k.adopt(task{own: nobody}, 7))
	for range 2 {
		s, err := k.Read()
		require.NoError(t, err)
		assert.Empty(t, s.Threads)
		assert.Zero(t, s.Owners[7][OffCPU])
	}
	threads, _, _, err := k.entries()
	require.NoError(t, err)
	assert.Empty(t, threads)
}
