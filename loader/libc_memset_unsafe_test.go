// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// anonymous reads how many kB of the mapping at an address are pages of its own.
func anonymous(t *testing.T, address uintptr) (kilobytes int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	_, mapping, found := strings.Cut(string(text), fmt.Sprintf("\n%x-", address))
	require.True(t, found)
	_, value, _ := strings.Cut(mapping, "\nAnonymous:")
	_, err = fmt.Sscan(value, &kilobytes)
	require.NoError(t, err)
	return kilobytes
}

// readsTakeMemory tells whether pages that are only read take memory. Most kernels have one page of zeros for all of these; those of some
// virtual machines have none (pvm_no_zero_page).
func readsTakeMemory(t *testing.T) bool {
	t.Helper()
	const pages = 16
	page := os.Getpagesize()
	space, err := unix.Mmap(-1, 0, (pages+2)*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(space)) }()
	fresh := space[page : (1+pages)*page] // a mapping of its own
	require.NoError(t, unix.Mprotect(fresh, unix.PROT_READ|unix.PROT_WRITE))
	require.False(t, slices.ContainsFunc(fresh, func(b byte) bool { return b != 0 }))
	return anonymous(t, uintptr(unsafe.Pointer(&fresh[0]))) > 0
}

// What a library clears that is clear takes no memory, where reading takes none. Large pieces are data, whose place is where they are cleared.
func TestClearedMemory(t *testing.T) {
	readsTake := readsTakeMemory(t)
	i := open(t, library(t, "zero.c", "-fno-builtin-memset"))
	for _, c := range []struct {
		pages, written uintptr
		want           int
	}{{64, 0, 0}, {64, 3, 3 * 4}, {4, 0, 4 * 4}, {255, 0, 0}, {256, 0, 256 * 4}} {
		at, err := i.Call("clear_new", c.pages, c.written)
		require.NoError(t, err)
		if readsTake {
			c.want = int(c.pages) * 4
		}
		assert.Equal(t, c.want, anonymous(t, at), "%+v", c)
	}
	for _, c := range []struct{ from, n, byte uintptr }{
		{0, 64 * 4096, 0}, {1, 64*4096 - 2, 0}, {4095, 40 * 4096, 0}, {17, 64 << 10, 0}, {17, 64 << 10, 0x100}, {17, 64 << 10, 9}, {5, 100, 0}, {5, 0, 0},
	} {
		assert.Equal(t, 1, call(t, i, "sets", c.from, c.n, c.byte), "%+v", c)
	}
}
