// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
)

// relocations counts the relocations of a file by their type.
func relocations(t *testing.T, path string) map[elf.R_X86_64]int {
	t.Helper()
	m, err := image.Open(path)
	require.NoError(t, err)
	defer m.Close()
	list, err := m.Relocs()
	require.NoError(t, err)
	n := map[elf.R_X86_64]int{}
	for _, r := range list {
		n[r.Type]++
	}
	return n
}

// onThread runs f on a thread of its own, which ends after it. The main thread would not.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread() // never unlocked
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		elsewhere := make(chan bool)
		go func() {
			runtime.LockOSThread()
			elsewhere <- true
			f()
		}()
		<-elsewhere
		runtime.UnlockOSThread()
	}()
}

func inThread[T any](f func() T) T {
	result := make(chan T)
	onThread(func() { result <- f() })
	return <-result
}

func TestThreadLocalStorage(t *testing.T) {
	for _, model := range []struct {
		name, compiler, flag string
		relocation           elf.R_X86_64
	}{
		{"dynamic", "gcc", "-ftls-model=global-dynamic", elf.R_X86_64_DTPMOD64},
		{"dynamic, clang", "clang", "-ftls-model=global-dynamic", elf.R_X86_64_DTPMOD64},
		{"local-dynamic", "gcc", "-ftls-model=local-dynamic", elf.R_X86_64_DTPMOD64},
		{"local-dynamic, clang", "clang", "-ftls-model=local-dynamic", elf.R_X86_64_DTPMOD64},
		{"initial-exec", "gcc", "-ftls-model=initial-exec", elf.R_X86_64_TPOFF64},
		{"initial-exec, clang", "clang", "-ftls-model=initial-exec", elf.R_X86_64_TPOFF64},
		{"descriptors", "gcc", "-mtls-dialect=gnu2", elf.R_X86_64_TLSDESC}, // clang 14 makes none
	} {
		t.Run(model.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			path := libraryBy(t, model.compiler, "counter.c", append(linkTo(library(t, "helper.c")), model.flag)...)
			assert.NotZero(t, relocations(t, path)[model.relocation])
			a, b := open(t, path, "FLAVOUR=plain"), open(t, path)
			assert.Equal(t, 405, call(t, a, "bump_tls"))
			assert.Equal(t, 506, call(t, a, "bump_tls"))
			assert.Equal(t, 405, call(t, b, "bump_tls"), "another instance, same thread")
			assert.Equal(t, 607, call(t, a, "bump_tls"), "the first one again")
			assert.Equal(t, 506, call(t, b, "bump_tls"))
			assert.Equal(t, 41, call(t, a, "tls_at_thread_end"))
			assert.Equal(t, 1, call(t, a, "thread_inherits", cString(t, "plain")), "a thread of the instance's")
			assert.Equal(t, 405, inThread(func() int { return call(t, a, "bump_tls") }), "same instance, another thread")
			assert.Equal(t, 708, call(t, a, "bump_tls"))
		})
	}
}

// tls.h and package plan agree on the size of libtpsl's own block.
func TestStaticTLSSize(t *testing.T) {
	header, err := os.ReadFile("tls.h")
	require.NoError(t, err)
	assert.Contains(t, string(header), fmt.Sprintf("TPSL_STATIC_TLS = %d,", plan.StaticTLS))
}

func TestStaticTLS(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, compiler := range []string{"gcc", "clang"} {
		path := libraryBy(t, compiler, "static_tls.c", "-ftls-model=initial-exec", "-DALIGN=64", "-DSIZE=200")
		a, b := open(t, path), open(t, path)
		for _, yes := range []string{"initial", "one_address", "thread_has_its_own"} {
			assert.Equal(t, 1, call(t, a, yes), yes)
			assert.Equal(t, 1, call(t, b, yes), yes)
		}
		assert.Equal(t, 421, call(t, a, "bump"))
		assert.Equal(t, 523, call(t, a, "bump"))
		assert.Equal(t, 421, call(t, b, "bump"))
		assert.Equal(t, 421, inThread(func() int { return call(t, b, "bump") }))
		assert.Equal(t, 625, call(t, a, "bump"))
	}
}

// Variables that dlopen brings are there for threads that act for the instance already,
// and those that the thread has stay.
func TestStaticTLSOfPlugin(t *testing.T) {
	plugin := cString(t, library(t, "static_tls_plugin.c", "-ftls-model=initial-exec"))
	for _, host := range []string{"-ftls-model=initial-exec", "-ftls-model=global-dynamic"} {
		runtime.LockOSThread()
		path := library(t, "static_tls.c", host)
		a, b := open(t, path), open(t, path)
		assert.Equal(t, 421, call(t, a, "bump"))
		assert.Equal(t, 6007, call(t, a, "plugin_for_thread", plugin))
		assert.Equal(t, 523, call(t, a, "bump"))
		assert.Equal(t, 421, call(t, b, "bump"))
		assert.Equal(t, 6007, call(t, b, "plugin_for_thread", plugin))
		runtime.UnlockOSThread()
	}
}

// So they are for a thread that opens them in a destructor at its end.
func TestStaticTLSOfPluginAtTheEnd(t *testing.T) {
	plugin := cString(t, library(t, "static_tls_plugin.c", "-ftls-model=initial-exec"))
	for _, host := range []string{"-ftls-model=initial-exec", "-ftls-model=global-dynamic"} {
		i := open(t, library(t, "static_tls.c", host))
		assert.Equal(t, 523006, call(t, i, "plugin_at_thread_end", plugin))
		i.Close()
	}
}

// One library's variable, used by another at a fixed distance: of a private library
// in the static block, of a shared one where ld.so has it.
func TestStaticTLSOfAnotherLibrary(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	user := func(owner string) string { return library(t, "static_tls_user.c", linkTo(owner)...) }

	private := user(library(t, "static_tls_others.c"))
	a, b := open(t, private), open(t, private)
	assert.Equal(t, 31, call(t, a, "bump"))
	assert.Equal(t, 32, call(t, a, "bump"))
	assert.Equal(t, 31, call(t, b, "bump"))
	assert.Equal(t, 1, call(t, b, "same_address"))

	place(t, "libstatic_tls_others.so", plan.Shared)
	shared := user(library(t, "static_tls_others.c", "-ftls-model=initial-exec", "-DSTATIC"))
	a, b = open(t, shared), open(t, shared)
	assert.Equal(t, 31, call(t, a, "bump"))
	assert.Equal(t, 32, call(t, b, "bump"), "the process's one")
	assert.Equal(t, 1, call(t, b, "same_address"))
	assert.Equal(t, 31, inThread(func() int { return call(t, b, "bump") }))
}

// Descriptors of all forms find the variable, and keep every register.
func TestTLSDescriptors(t *testing.T) {
	i := open(t, library(t, "tlsdesc.c", "-mtls-dialect=gnu2"))
	assert.Equal(t, 1, call(t, i, "registers_kept"))
	assert.Equal(t, 1, call(t, i, "registers_kept"))
	assert.Equal(t, 1, call(t, i, "absent_is_null"))

	inStaticBlock := library(t, "static_tls_others.c", "-mtls-dialect=gnu2")
	assert.Equal(t, 1, relocations(t, inStaticBlock)[elf.R_X86_64_TLSDESC])
	i = open(t, library(t, "static_tls_user.c", linkTo(inStaticBlock)...))
	assert.Equal(t, 1, call(t, i, "same_address"))

	place(t, "libstatic_tls_others.so", plan.Shared)
	i = open(t, library(t, "static_tls_user.c", append(linkTo(inStaticBlock), "-mtls-dialect=gnu2", "-DANY_MODEL")...))
	assert.Equal(t, 1, call(t, i, "same_address"), "of a shared library")
}

// Where ld.so makes blocks on demand, there is no distance that all threads have.
func TestDynamicTLSOfSharedLibraryRefused(t *testing.T) {
	place(t, "libstatic_tls_others2.so", plan.Shared)
	owner := library(t, "static_tls_others.c", "-Wl,-soname,libstatic_tls_others2.so")
	link := filepath.Join(filepath.Dir(owner), "libstatic_tls_others2.so")
	_ = os.Remove(link)
	require.NoError(t, os.Link(owner, link))
	_, err := loader.Open(library(t, "static_tls_user.c", linkTo(owner)...))
	require.ErrorContains(t, err, "wants others of libstatic_tls_others2.so at a fixed distance from the thread pointer")
}

// place puts a library elsewhere than the default policy does.
func place(t *testing.T, name string, at plan.Placement) {
	t.Helper()
	loader.Configure(loader.Config{Policy: append(plan.Policy{{Pattern: name, Placement: at}}, plan.DefaultPolicies().Opened...)})
	t.Cleanup(func() { loader.Configure(loader.Config{}) })
}

// A thread that ends gives back what was kept for it.
func TestStaticTLSOfThreadsIsReleased(t *testing.T) {
	path := library(t, "static_tls.c", "-ftls-model=initial-exec")
	a, b := open(t, path), open(t, path)
	turn := func() {
		for range 50 {
			untilItEnds(t, func() { _ = call(t, a, "bump") + call(t, b, "bump") + call(t, a, "bump") })
		}
	}
	maps := func() int {
		text, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return countLines(string(text), "")
	}
	turn()
	before := maps()
	turn()
	assert.Less(t, maps(), before+25)
}

// A handler that comes while its thread touches a module for the first time finds the whole block, and what it writes stays.
func TestThreadLocalsInAHandler(t *testing.T) {
	for _, dialect := range []string{"gnu", "gnu2"} {
		i := open(t, library(t, "tls_signal.c", "-pthread", "-mtls-dialect="+dialect))
		assert.Equal(t, 0, call(t, i, "wrong_reads", 20), dialect)
		i.Close()
	}
}
