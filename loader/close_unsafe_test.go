// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
)

// footprint is what a process has of what can be left behind.
type footprint struct{ fds, maps, threads, kilobytes int }

// footprintAfter is that of the process when threads that are about to end have ended.
func footprintAfter(t *testing.T, before footprint) (f footprint) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f = footprintNow(t)
		if f.threads <= before.threads+goThreads && f.maps <= before.maps+goMaps || time.Now().After(end) {
			return f
		}
	}
}

// What comes and goes with Go.
const goThreads, goMaps = 4, 20

func footprintNow(t *testing.T) (f footprint) {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	f.fds, f.maps = len(fds), countLines(string(maps), "")
	f.threads = number(t, "/proc/self/status", "Threads:")
	f.kilobytes = number(t, "/proc/self/smaps_rollup", "Rss:") // VmRSS is not exact where there are many CPUs
	return f
}

// number reads one behind a word at the begin of a line.
func number(t *testing.T, file, word string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, value, found := strings.Cut(string(text), "\n"+word)
	require.True(t, found, word)
	_, err = fmt.Sscan(value, &n)
	require.NoError(t, err)
	return n
}

// A thousand times, with thread-locals of both kinds, a thread, a plugin, a signal
// handler, a shared segment and a thread outside that keeps blocks.
func TestClosingLeaksNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	path := library(t, "busy.c")
	plugin := cString(t, library(t, "static_tls_plugin.c"))
	fd, err := unix.MemfdCreate("tpsl-test-busy", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, 4096))
	once := func() {
		i := open(t, path)
		require.Equal(t, 45, call(t, i, "work", plugin, uintptr(fd)))
		i.Close()
	}
	for range 1000 { // Go's heap grows to its size
		once()
	}
	images := mapped(t, "libbusy.so") + mapped(t, "libstatic_tls_plugin.so") // of the plan
	before := footprintNow(t)
	for range 1000 {
		once()
	}
	after := footprintAfter(t, before)
	assert.Equal(t, before.fds, after.fds)
	assert.LessOrEqual(t, after.maps, before.maps+goMaps)
	assert.LessOrEqual(t, after.threads, before.threads+goThreads)
	assert.Less(t, after.kilobytes, before.kilobytes+1024)
	assert.Equal(t, images, mapped(t, "libbusy.so")+mapped(t, "libstatic_tls_plugin.so"))
	assert.Zero(t, mapped(t, "tpsl-test-busy"))
	t.Logf("%+v, %+v", before, after)
}

// What debuggers and unwinders walk through has what is open, and nothing else.
func TestClosedObjectsAreForgotten(t *testing.T) {
	path, small := library(t, "busy.c"), library(t, "same.c", "-DANSWER=1")
	name, other := cString(t, "libsame.so"), cString(t, "libbusy.so")
	witness := open(t, path)
	iterate := symbol(t, witness, "walked")
	require.NotZero(t, iterate)
	opened := []*loader.Instance{open(t, small), open(t, small), open(t, small)}
	count := call(t, witness, "seen_by_debugger", other)
	for _, k := range []int{1, 0, 2} {
		before := call(t, witness, "seen_by_debugger", name)
		assert.Positive(t, before)
		assert.Equal(t, before, call(t, witness, "walked", hostIterate(t), name))
		opened[k].Close()
		assert.Equal(t, before-1, call(t, witness, "seen_by_debugger", name))
		assert.Equal(t, before-1, call(t, witness, "walked", hostIterate(t), name))
	}
	assert.Equal(t, count, call(t, witness, "seen_by_debugger", other))
	witness.Close()
}

// An instance can be closed after a visitor of dl_iterate_phdr has left by an exception.
func TestCloseAfterAVisitorHasLeft(t *testing.T) {
	iterate := hostIterate(t)
	i := open(t, libraryBy(t, "g++", "throws.cc"))
	assert.Equal(t, 1, call(t, i, "left", iterate))
	i.Close()
}

// hostIterate is the dl_iterate_phdr that the process has.
func hostIterate(t *testing.T) uintptr {
	t.Helper()
	theirs := libraryNamed(t, "libprocess.so", "iterate.c", "-DPROCESS")
	loader.Configure(loader.Config{Policy: append(plan.Policy{{Pattern: "libprocess.so", Placement: plan.Shared}}, plan.DefaultPolicies().Opened...)})
	defer loader.Configure(loader.Config{})
	i := open(t, library(t, "iterate.c", linkTo(theirs)...))
	p, err := i.Call("of_process")
	require.NoError(t, err)
	require.NotZero(t, p)
	return p
}

// A thread that touched the thread-locals of a closed instance finds those of the next
// as they should be.
func TestThreadLocalsAfterClosing(t *testing.T) {
	for _, flag := range []string{"-ftls-model=global-dynamic", "-ftls-model=initial-exec", "-mtls-dialect=gnu2"} {
		runtime.LockOSThread()
		path := library(t, "counter.c", append(linkTo(library(t, "helper.c")), flag)...)
		kept := open(t, path)
		assert.Equal(t, 405, call(t, kept, "bump_tls"))
		for range 3 {
			i := open(t, path)
			assert.Equal(t, 405, call(t, i, "bump_tls"), flag)
			assert.Equal(t, 506, call(t, i, "bump_tls"), flag)
			i.Close()
		}
		assert.Equal(t, 506, call(t, kept, "bump_tls"), flag)
		kept.Close()
		runtime.UnlockOSThread()
	}
}

// Constructors run dependencies first, by priority; at the end all atexit functions,
// then destructors the other way round. As ld.so does, TestOrderIsTheLinkers shows.
func TestOrder(t *testing.T) {
	low := library(t, "order.c", "-DLOWEST", `-DLETTER="l"`, "-Wl,-soname,liblow.so")
	rename(t, low, "liblow.so")
	flags := append([]string{`-DLETTER="t"`, "-Wl,-init,_init_called", "-Wl,-fini,_fini_called"}, linkTo(filepath.Join(filepath.Dir(low), "liblow.so"))...)
	i := open(t, library(t, "order.c", flags...))
	where, text := cBuffer(t, 256)
	_, err := i.Call("keep", where)
	require.NoError(t, err)
	assert.Equal(t, "1l 2l it 1t 2t ", text())
	i.Close()
	assert.Equal(t, "1l 2l it 1t 2t xt xl 2~t 1~t ft 2~l 1~l ", text())
}

// rename links a library to another name in its folder.
func rename(t *testing.T, path, name string) {
	t.Helper()
	to := filepath.Join(filepath.Dir(path), name)
	_ = os.Remove(to)
	require.NoError(t, os.Link(path, to))
}

// Destructors of C++ thread_local variables: at the end of the thread or of the
// instance, whatever comes first, and with the thread acting for the instance.
func TestThreadLocalDestructors(t *testing.T) {
	path := libraryBy(t, "g++", "thread_local.cc")
	log := make([]int32, 1024)
	pin := &runtime.Pinner{}
	pin.Pin(&log[0])
	defer pin.Unpin()
	at := uintptr(unsafe.Pointer(&log[0]))
	a, b := open(t, path), open(t, path)
	inThread(func() int { return call(t, a, "touch", 1, at) + call(t, b, "touch", 2, at) })
	require.Eventually(t, func() bool { return log[2] != 0 }, time.Minute, time.Millisecond)
	assert.Equal(t, []int32{2, 2, 1}, log[:3], "newest first")

	gone, closed := make(chan bool), make(chan bool)
	onThread(func() {
		call(t, a, "touch", 3, at)
		call(t, b, "touch", 4, at)
		gone <- true
		<-closed
	})
	<-gone
	a.Close()
	closed <- true
	require.Eventually(t, func() bool { return log[3] != 0 }, time.Minute, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	assert.Equal(t, []int32{3, 2, 1, 4}, log[:4], "not that of the closed one")

	runtime.LockOSThread()
	call(t, b, "touch", 5, at)
	b.Close()
	assert.Equal(t, []int32{4, 2, 1, 4, 5}, log[:5])
	runtime.UnlockOSThread()
}

// What there is once may call the instance that brought it up, so that one stays. It has ended: what it has pointers to
// may be another's by now.
func TestWhatOnceRefersToStays(t *testing.T) {
	place(t, "libonce_only.so", plan.Once)
	once := library(t, "once.c", "-DONCE", "-Wl,-soname,libonce_only.so", "-Wl,-z,undefs")
	rename(t, once, "libonce_only.so")
	user := library(t, "once.c", linkTo(filepath.Join(filepath.Dir(once), "libonce_only.so"))...)
	a, b := open(t, user), open(t, user)
	assert.Equal(t, 1, call(t, a, "go"))
	assert.Equal(t, 2, call(t, b, "go"), "the first one's")
	before := mapped(t, user)
	kept := symbol(t, a, "kept")
	foreign := symbol(t, b, "go")
	*(*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&kept))) = foreign
	require.Error(t, loader.Verify(nil))
	a.Close()
	assert.NoError(t, loader.Verify(nil))
	assert.Equal(t, before, mapped(t, user))
	assert.Equal(t, 3, call(t, b, "go"))
	b.Close()
	assert.Equal(t, before/2, mapped(t, user))
}

// Throws and lookups go on while others open and close.
func TestClosingWhileOthersLookUp(t *testing.T) {
	throws, small := library(t, "throws.cc", "-lstdc++"), library(t, "same.c", "-DANSWER=1")
	busy := open(t, library(t, "busy.c"))
	iterate, name := hostIterate(t), cString(t, "libthrows.so")
	end := time.Now().Add(2 * time.Second)
	var all sync.WaitGroup
	for range 3 {
		i := open(t, throws)
		all.Go(func() {
			for n := uintptr(1); time.Now().Before(end); n++ {
				if !assert.Equal(t, int(n), call(t, i, "caught", n)) {
					return
				}
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(end) {
			assert.Positive(t, call(t, busy, "walked", iterate, name))
		}
	})
	for range 2 {
		all.Go(func() {
			for time.Now().Before(end) {
				open(t, small).Close()
			}
		})
	}
	all.Wait()
	busy.Close()
}

// Instances of MPICH that have been a job of one rank can be closed. The first stays, as
// libucm refers to it. What the others leave behind is what their code does not free;
// hwloc's plugin for PCI devices, left out, keeps all of pci.ids where that is installed.
func TestClosingMPICH(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	once := func() {
		i := open(t, "libmpich.so.12", "UCX_HANDLE_ERRORS=none", "HWLOC_PLUGINS_BLACKLIST=hwloc_pci.so")
		require.Zero(t, call(t, i, "MPI_Init", 0, 0))
		require.Zero(t, call(t, i, "MPI_Finalize"))
		i.Close()
	}
	for range 4 {
		once()
	}
	before := footprintNow(t)
	const times = 10
	for range times {
		once()
	}
	after := footprintAfter(t, before)
	t.Logf("%d kB for each instance of libmpich.so.12 that was closed", (after.kilobytes-before.kilobytes)/times)
	assert.Equal(t, before.fds, after.fds)
	assert.LessOrEqual(t, after.threads, before.threads+goThreads)
	assert.LessOrEqual(t, after.maps, before.maps+goMaps)
	assert.Less(t, after.kilobytes, before.kilobytes+times*256)
}
