// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader"
)

// cBuffer returns memory that outlives the test for C code to write to, and its
// text up to the first NUL.
func cBuffer(t *testing.T, size int) (uintptr, func() string) {
	t.Helper()
	b, err := unix.Mmap(-1, 0, max(size, 4096), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	return uintptr(unsafe.Pointer(&b[0])), func() string { return unix.ByteSliceToString(b) }
}

func cString(t *testing.T, s string) uintptr {
	t.Helper()
	b, err := unix.Mmap(-1, 0, len(s)+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	copy(b, s)
	return uintptr(unsafe.Pointer(&b[0]))
}

func countLines(text, word string) (n int) {
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}

func TestVerifyFindsAPointerIntoAnotherInstance(t *testing.T) {
	path := counter(t)
	a, b := open(t, path), open(t, path)
	pointer, foreign := symbol(t, a, "exported_pointer"), symbol(t, b, "counter")
	require.NoError(t, loader.Verify(nil))

	word := (*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&pointer)))
	own := *word
	*word = foreign
	err := loader.Verify(nil)
	*word = own
	require.ErrorContains(t, err, "libcounter.so")
	assert.ErrorContains(t, err, "points into another instance")
	require.NoError(t, loader.Verify(nil))
}

// A word that leads into the data of another copy of its library may be a token, by what is before it and where it leads to.
func TestVerifyLeavesTokens(t *testing.T) {
	path := counter(t)
	a, b := open(t, path), open(t, path)
	pointer, data, text := symbol(t, a, "exported_pointer"), symbol(t, b, "counter"), symbol(t, b, "bump")

	word := (*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&pointer)))
	own := *word
	defer func() { *word = own }()
	asked := 0
	token := func(before, to []byte) bool {
		asked++
		assert.Equal(t, pointer, uintptr(unsafe.Pointer(unsafe.SliceData(before)))+uintptr(len(before)))
		if len(to) == 0 {
			return false
		}
		assert.Equal(t, data, uintptr(unsafe.Pointer(unsafe.SliceData(to))))
		return true
	}
	*word = data
	require.NoError(t, loader.Verify(token))
	*word = text
	require.Error(t, loader.Verify(token), "no data")
	assert.Equal(t, 2, asked)

	*word = symbol(t, open(t, counter(t, "-DOTHER")), "counter")
	require.Error(t, loader.Verify(token), "of another library")
	assert.Equal(t, 2, asked)
}

func TestSharedSegmentsAreMappedOnce(t *testing.T) {
	path := library(t, "segment.c")
	a, b, c := open(t, path), open(t, path), open(t, path)
	fd, err := unix.MemfdCreate("tpsl-test-segment", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, 8192))

	attach := func(i *loader.Instance) uintptr {
		p, err := i.Call("attach", uintptr(fd))
		require.NoError(t, err)
		require.NotZero(t, p)
		return p
	}
	first := attach(a)
	assert.Equal(t, first, attach(b))
	assert.Equal(t, first, attach(c))
	second := attach(a)
	assert.NotEqual(t, first, second, "an instance that maps twice gets two mappings")
	assert.Equal(t, 2, mapped(t, "tpsl-test-segment"))

	assert.Zero(t, call(t, a, "detach", second))
	assert.Zero(t, call(t, a, "detach", first))
	assert.Zero(t, call(t, c, "detach", first))
	assert.Equal(t, 1, mapped(t, "tpsl-test-segment"), "b still uses it")
	assert.Zero(t, call(t, b, "detach", first))
	assert.Equal(t, 0, mapped(t, "tpsl-test-segment"))
}

// An instance may unmap a part of a segment. What others use stays; what nobody uses goes.
func TestPartsOfSharedSegments(t *testing.T) {
	const page, pages = 4096, 6
	path, name := library(t, "segment.c"), "tpsl-test-parts"
	a, b := open(t, path), open(t, path)
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	const size = pages*page - 100 // the last page is not a whole one
	require.NoError(t, unix.Ftruncate(fd, size))
	first, err := a.Call("attach_all", uintptr(fd), size)
	require.NoError(t, err)
	second, err := b.Call("attach_all", uintptr(fd), size)
	require.NoError(t, err)
	require.Equal(t, first, second)
	detach := func(i *loader.Instance, from, to uintptr) { assert.Zero(t, call(t, i, "detach_part", first, from, to)) }
	is := func(want string) {
		t.Helper()
		assert.Equal(t, want, mappedPages(t, name, first, pages))
	}
	is("######")
	detach(a, 2*page, 3*page)
	is("######")
	detach(b, page, 3*page)
	is("##.###") // b has left the second page, a the third, which b has left, too
	detach(a, 0, 2*page)
	is("#..###") // b uses the first one
	detach(b, 0, size)
	is("...###") // a the last ones
	again, err := b.Call("attach_all", uintptr(fd), size)
	require.NoError(t, err)
	assert.NotEqual(t, first, again, "there is no whole one")
	assert.Zero(t, call(t, b, "detach_part", again, 0, size))
	is("...###")
	detach(a, 5*page, 5*page+1)
	is("...##.")
	assert.Equal(t, -1, call(t, a, "detach_part", first, 1, page), "not the start of a page")
	a.Close()
	is("......")
	b.Close()
}

// mappedPages has a character for each page from an address on: # where the file is mapped.
func mappedPages(t *testing.T, name string, start uintptr, pages int) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	found := []byte(strings.Repeat(".", pages))
	for _, line := range strings.Split(string(maps), "\n") {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n != 2 || !strings.Contains(line, name) {
			continue
		}
		for i := range found {
			if at := start + uintptr(i)*4096; from <= at && at < to {
				found[i] = '#'
			}
		}
	}
	return string(found)
}

func TestSysVSegmentsAreAttachedOnce(t *testing.T) {
	path := library(t, "segment.c")
	a, b := open(t, path), open(t, path)
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	require.NoError(t, err)
	p, err := a.Call("attach_sysv", uintptr(id))
	require.NoError(t, err)
	require.NotZero(t, p)
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	require.NoError(t, err)
	q, err := b.Call("attach_sysv", uintptr(id))
	require.NoError(t, err)
	assert.Equal(t, p, q)
	assert.Zero(t, call(t, a, "detach_sysv", p))
	assert.Equal(t, 1, mapped(t, "/SYSV"))
	assert.Zero(t, call(t, b, "detach_sysv", p))
	assert.Equal(t, 0, mapped(t, "/SYSV"))
}

// A lock on a file belongs to the instance that took it, and stays when another
// instance closes the file.
func TestFileLocksBelongToTheInstance(t *testing.T) {
	path := library(t, "locks.c")
	a, b := open(t, path), open(t, path)
	name := filepath.Join(t.TempDir(), "locked")
	require.NoError(t, os.WriteFile(name, []byte("x"), 0o600))
	file, nobody := cString(t, name), -1

	assert.Equal(t, unix.F_UNLCK, call(t, a, "in_the_way", file))
	fd := call(t, a, "lock", file)
	require.NotEqual(t, nobody, fd)
	assert.Equal(t, nobody, call(t, b, "lock", file))
	assert.Equal(t, unix.F_WRLCK, call(t, b, "in_the_way", file))
	assert.Equal(t, nobody, call(t, b, "lock", file), "after b has closed the file")
	assert.Zero(t, call(t, a, "unlock", uintptr(fd)))
	fd = call(t, b, "lock", file)
	require.NotEqual(t, nobody, fd)
	assert.Zero(t, call(t, b, "unlock", uintptr(fd)))
}

func mapped(t *testing.T, name string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return countLines(string(maps), name)
}

// The first instance may chain to the program's handler; all instances hear.
func TestSignalsReachEveryInstance(t *testing.T) {
	program := make(chan os.Signal, 8)
	signal.Notify(program, unix.SIGUSR1)
	defer signal.Stop(program)
	path := library(t, "handler.c")
	closed := open(t, path)
	call(t, closed, "listen_usr1")
	closed.Close()
	a, b := open(t, path), open(t, path)
	defer a.Close()
	defer b.Close()
	call(t, a, "listen_usr1")
	call(t, b, "listen_usr1")
	assert.Equal(t, 1, call(t, a, "before_is_function"))
	assert.Equal(t, 0, call(t, b, "before_is_function"))

	require.Zero(t, raise())
	hear(t, program)
	assert.Equal(t, 1, call(t, a, "times_heard"))
	assert.Equal(t, 1, call(t, b, "times_heard"))

	call(t, a, "unlisten_usr1")
	call(t, b, "unlisten_usr1")
	require.Zero(t, raise())
	hear(t, program)
	assert.Equal(t, 1, call(t, a, "times_heard"))
}

// The program hears, too, when the instance that has chained to its handler is closed, and other ones stay.
func TestSignalsReachTheProgramAfterAnInstance(t *testing.T) {
	program := make(chan os.Signal, 8)
	signal.Notify(program, unix.SIGUSR1)
	defer signal.Stop(program)
	path := library(t, "handler.c")
	a, b := open(t, path), open(t, path)
	defer b.Close()
	call(t, a, "listen_usr1")
	call(t, b, "listen_usr1")
	a.Close()
	require.Zero(t, raise())
	hear(t, program)
	assert.Equal(t, 1, call(t, b, "times_heard"))
	assert.Empty(t, program)
}

func hear(t *testing.T, c chan os.Signal) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		require.Fail(t, "the program's own handler was not called")
	}
}
