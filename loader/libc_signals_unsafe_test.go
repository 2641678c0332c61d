// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
)

// raise sends SIGUSR1 to the calling thread, which has handled it when the call returns. Go may stop the world meanwhile.
func raise() syscall.Errno {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, errno := unix.Syscall(unix.SYS_TGKILL, uintptr(os.Getpid()), uintptr(unix.Gettid()), uintptr(unix.SIGUSR1))
	return errno
}

// Faults of a guarded copy recover again and again, and leave the mask of signals as it was.
func TestBadCopiesBesideAHandler(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	i := open(t, library(t, "actions.c"))
	assert.Equal(t, 3, call(t, i, "bad_copies"))
	i.Close()
}

// A handler with SA_RESETHAND is called once: then the instance has the default, and the program its own handler again.
func TestHandlerOfOneCall(t *testing.T) {
	program := make(chan os.Signal, 8)
	signal.Notify(program, unix.SIGUSR1)
	defer signal.Stop(program)
	i := open(t, library(t, "actions.c"))
	defer i.Close()
	require.Zero(t, call(t, i, "listen_once"))
	require.Zero(t, raise())
	assert.Equal(t, 1, call(t, i, "times_called"))
	assert.Equal(t, 1, call(t, i, "is_reset"))
	assert.Empty(t, program)
	require.Zero(t, raise())
	hear(t, program)
	assert.Equal(t, 1, call(t, i, "times_called"))
	require.Zero(t, call(t, i, "listen_once"))
	require.Zero(t, raise())
	assert.Equal(t, 2, call(t, i, "times_called"))
}

// Each instance's handler has its own mask, whoever set one last.
func TestMasksOfHandlers(t *testing.T) {
	path := library(t, "actions.c")
	a, b := open(t, path), open(t, path)
	defer a.Close()
	defer b.Close()
	require.Zero(t, call(t, a, "listen_plainly"))
	require.Zero(t, call(t, b, "listen_again"))
	require.Zero(t, raise())
	assert.Equal(t, 11, call(t, a, "was_blocked"))
	assert.Equal(t, 1, call(t, b, "was_blocked"), "SA_NODEFER")
	call(t, a, "stop")
	call(t, b, "stop")
}

// An instance that is closed waits for a thread that a signal took into its handler, for a second. Where the machine stands still for
// so long, the thread is still inside.
func TestClosingInsideAHandler(t *testing.T) {
	i := open(t, library(t, "actions.c"))
	where, _ := cBuffer(t, 4)
	stage := (*atomic.Int32)(*(*unsafe.Pointer)(unsafe.Pointer(&where)))
	require.Zero(t, call(t, i, "listen_long", where))
	raised := make(chan syscall.Errno)
	go func() { raised <- raise() }()
	require.Eventually(t, func() bool { return stage.Load() == 1 }, time.Minute, time.Millisecond)
	closed := make(chan bool)
	go func() {
		began := time.Now()
		i.Close()
		left := stage.Load() == 3
		closed <- left || time.Since(began) >= time.Second
	}()
	time.Sleep(200 * time.Millisecond)
	stage.Store(2)
	assert.True(t, <-closed)
	assert.Zero(t, <-raised)
	assert.Equal(t, int32(3), stage.Load())
}

// An instance waits no longer than a second for a thread in its handler. Its code stays, so that the handler goes on.
func TestClosingInsideALongHandler(t *testing.T) {
	path := library(t, "actions.c")
	before := mapped(t, path)
	i := open(t, path)
	where, _ := cBuffer(t, 4)
	stage := (*atomic.Int32)(*(*unsafe.Pointer)(unsafe.Pointer(&where)))
	require.Zero(t, call(t, i, "listen_long", where))
	raised := make(chan syscall.Errno)
	go func() { raised <- raise() }()
	require.Eventually(t, func() bool { return stage.Load() == 1 }, time.Minute, time.Millisecond)
	i.Close()
	assert.Equal(t, int32(1), stage.Load())
	assert.Greater(t, mapped(t, path), before)
	stage.Store(2)
	assert.Zero(t, <-raised)
	assert.Equal(t, int32(3), stage.Load())
}

// A handler that jumps to where its thread was before the signal is left by that, so the instance can be closed.
func TestJumpOutOfAHandler(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	path := library(t, "actions.c")
	before := mapped(t, path)
	for range 2 {
		i := open(t, path)
		assert.Equal(t, 1, call(t, i, "jumps"))
		assert.Equal(t, 2, call(t, i, "jumps"))
		i.Close()
		assert.Equal(t, before, mapped(t, path), "it has waited for the thread, and stays")
	}
}

// besideProgram compiles of_program.c, as a part of the process and as a library of instances, which it returns.
func besideProgram(t *testing.T) string {
	t.Helper()
	const name = "libofprogram.so"
	loader.Configure(loader.Config{Policy: append(plan.Policy{{Pattern: name, Placement: plan.Shared}}, plan.DefaultPolicies().Opened...)})
	t.Cleanup(func() { loader.Configure(loader.Config{}) })
	return library(t, "of_program.c", linkTo(libraryNamed(t, name, "of_program.c", "-DPROGRAM"))...)
}

// A handler of the program calls the one before it, which is the dispatcher's. All hear each signal once, also when an instance has set a handler since.
func TestProgramChainsToAnInstance(t *testing.T) {
	path := besideProgram(t)
	for again := range 2 { // how often the program's handler raises the signal
		a, b := open(t, path), open(t, path)
		require.Zero(t, call(t, a, "resets"))
		require.Zero(t, call(t, a, "listen"))
		require.Zero(t, call(t, a, "listens", uintptr(again)))
		require.Zero(t, call(t, b, "listen"))
		b.Close()
		assert.Zero(t, raise())
		assert.Equal(t, 1+again, call(t, a, "times_called"))
		assert.Equal(t, 1+again, call(t, a, "times_program_heard"))
		call(t, a, "stops")
		a.Close()
	}
}

// A fault of the program is handled by the program, and a fault of an instance by the instance, in any order.
func TestFaultsReachWhoFaulted(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	i := open(t, library(t, "actions.c"))
	defer i.Close()
	call(t, i, "listen_faults")
	for n := range 3 {
		assert.Panics(t, func() {
			var nowhere *int
			*nowhere = 1
		})
		assert.Equal(t, n+1, call(t, i, "faults"))
	}
}
