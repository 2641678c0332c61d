// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/loop"
)

// counted counts what a device registers.
type counted struct {
	*Device
	registered atomic.Int64
}

func (c *counted) Register(r regcache.Range, access regcache.Access) (regcache.Memory, error) {
	c.registered.Add(1)
	return c.Device.Register(r, access)
}

// opened is a device with a cache over it, both closed at the end of the test.
func opened(t testing.TB) (*counted, *regcache.Cache) {
	d := &counted{Device: device(t)}
	cache, err := regcache.New(d, regcache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, cache.Close())
		assert.NoError(t, d.Close())
	})
	return d, cache
}

// send fills memory, has the device send it, and tells whether that is what arrives.
func send(t testing.TB, cache *regcache.Cache, l *loop.Loop, at uint64, with byte) (right bool) {
	loop.Fill(at, with, size)
	region, err := cache.Acquire(rangeOf(at, size), LocalWrite)
	if !assert.NoError(t, err) {
		return false
	}
	defer region.Release()
	got, err := l.Write(at, size, region.Memory.Local)
	return assert.NoError(t, err) && bytes.Count(got, []byte{with}) == size
}

// kernelCounts tells how many regions the kernel has of this program. The pid that it
// tells is of the thread that registered.
func kernelCounts(t *testing.T) (n int) {
	out, err := exec.Command("rdma", "-j", "resource", "show", "mr").Output()
	require.NoError(t, err)
	comm, err := os.ReadFile("/proc/self/comm")
	require.NoError(t, err)
	var regions []struct{ Comm string }
	require.NoError(t, json.Unmarshal(out, &regions), "%s", out)
	for _, r := range regions {
		if r.Comm == strings.TrimSpace(string(comm)) {
			n++
		}
	}
	return n
}

func TestOneRegistrationForManySends(t *testing.T) {
	d, cache := opened(t)
	l := loopOf(t, d.Device)
	stop, err := Watch(cache.Journal())
	require.NoError(t, err)
	defer stop()
	before := kernelCounts(t)
	at := loop.Map(0, size)
	for i := range 300 {
		require.True(t, send(t, cache, l, at, byte(i)), i)
	}
	assert.EqualValues(t, 1, d.registered.Load())
	assert.Equal(t, 1, kernelCounts(t)-before)
	loop.Unmap(at, size)
	use(t, cache, rangeOf(loop.Map(0, size), size)) // brings the other one down
	assert.EqualValues(t, 2, d.registered.Load())
	assert.Equal(t, 1, kernelCounts(t)-before)
}

// The device sends what is in memory now, and not what was in pages that have gone from
// these addresses. Without the hook it does not, in any way that memory goes.
func TestNeverStale(t *testing.T) {
	const rounds = 20
	for _, w := range ways(t) {
		for name, hook := range map[string]bool{"hook": true, "control": false} {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				d, cache := opened(t)
				l := loopOf(t, d.Device)
				if hook {
					stop, err := Watch(cache.Journal())
					require.NoError(t, err)
					defer stop()
				}
				stale, at := 0, w.get()
				known := map[uint64]bool{}
				for i := range rounds {
					known[at] = true
					if !send(t, cache, l, at, byte(i+1)) {
						stale++
					}
					elsewhere(func() { w.lose(at) })
					at = w.again(at)
				}
				require.Less(t, len(known), rounds/2, "memory comes back at the same address")
				if hook {
					assert.Zero(t, stale)
					assert.EqualValues(t, rounds, d.registered.Load())
				} else {
					assert.Equal(t, rounds-len(known), stale, "all but the first send from an address")
					assert.EqualValues(t, len(known), d.registered.Load())
				}
			})
		}
	}
}

// Threads send, free and hand addresses on to one another.
func TestThreadsNeverStale(t *testing.T) {
	const threads, areas, rounds = 3, 4, 50
	d, cache := opened(t)
	stop, err := Watch(cache.Journal())
	require.NoError(t, err)
	defer stop()
	free := make(chan uint64, areas) // addresses without memory
	for range areas {
		free <- somewhere()
	}
	var all sync.WaitGroup
	for thread := range threads {
		l := loopOf(t, d.Device)
		all.Go(func() {
			for i := range rounds {
				at := <-free
				loop.Map(at, size)
				for j := range 2 {
					assert.True(t, send(t, cache, l, at, byte(thread+threads*(2*i+j))), "thread %d, round %d", thread, i)
				}
				loop.Unmap(at, size)
				free <- at
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, d.registered.Load(), int64(threads*rounds))
}

func TestOpenRefused(t *testing.T) {
	d := device(t)
	defer d.Close()
	_, err := Open("mlx9_9")
	require.ErrorContains(t, err, "RDMA device mlx9_9: no such device: this host has ")
	assert.ErrorContains(t, err, d.name)

	const file = "/dev/infiniband/uverbs0"
	require.NoError(t, os.Chmod(file, 0o600))
	defer func() { assert.NoError(t, os.Chmod(file, 0o666)) }()
	asNobody(t, func() { _, err = Open(d.name) })
	require.ErrorIs(t, err, syscall.EACCES)
	assert.ErrorContains(t, err, d.name)
	assert.ErrorContains(t, err, file)
}

// Where no more memory may be locked, the error says what to raise.
func TestLockedMemoryLimit(t *testing.T) {
	_, cache := opened(t)
	at := loop.Map(0, 1<<20)
	defer loop.Unmap(at, 1<<20)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 64 << 10, Max: before.Max}))
	var err error
	asNobody(t, func() { _, err = cache.Acquire(rangeOf(at, 1<<20), LocalWrite) })
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before))
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.ErrorContains(t, err, "ulimit -l")
}

func TestCloseInUse(t *testing.T) {
	d := device(t)
	at := loop.Map(0, size)
	defer loop.Unmap(at, size)
	memory, err := d.Register(rangeOf(at, size), LocalWrite)
	require.NoError(t, err)
	assert.ErrorContains(t, d.Close(), "still registered: 1")
	d.Deregister(memory)
	assert.NoError(t, d.Close())
}

// asNobody calls f on a thread of its own that is no longer root's.
func asNobody(t testing.TB, f func()) {
	if os.Getuid() != 0 {
		t.Skip("is not root")
	}
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const nobody = 65534
		// The system call is of one thread; libc's function is of all.
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			t.Error(errno)
			return
		}
		f()
	})
	done.Wait()
}
