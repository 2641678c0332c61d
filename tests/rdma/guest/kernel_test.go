// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tools puts scripts of sh in place of Debian's tools. They note their calls in a file, whose name is returned.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	for name, script := range scripts {
		text := "#!/bin/sh\necho " + name + " $* >>" + calls + "\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return calls
}

// fakeDebian gives a package that holds a kernel and modules without needs.
func fakeDebian(t *testing.T) map[string]string {
	image, object := filepath.Join(t.TempDir(), "vmlinuz"), filepath.Join(t.TempDir(), "x.ko")
	require.NoError(t, os.WriteFile(image, bootImage([]byte("\xfd7zXZ\x00"), 4), 0o666))
	require.NoError(t, os.WriteFile(object, module(t, "depends="), 0o666))
	return map[string]string{
		"apt-cache": "word=Depends; [ \"$LC_ALL\" = C ] || word='Hängt ab von'; echo linux-image-amd64; echo \"  $word: linux-image-9-amd64\"",
		"apt-get":   "touch $2_9_amd64.deb; sleep 0.1",
		"dpkg": "mkdir -p $3/boot $3/lib/modules; cp " + image + " $3/boot/vmlinuz-9\n" +
			"for m in " + strings.Join(drivers, " ") + "; do cp " + object + " $3/lib/modules/$m.ko; done",
		"xz": "printf '\\177ELF'",
	}
}

// Those that need a kernel at the same time get one, fetched once.
func TestCache(t *testing.T) {
	calls := tools(t, fakeDebian(t))
	cache := filepath.Join(t.TempDir(), "kernels")
	require.NoError(t, os.MkdirAll(filepath.Join(cache, "work12", "tree"), 0o777), "of a fetch that was killed")
	require.NoError(t, os.Mkdir(filepath.Join(cache, "linux-image-8-amd64"), 0o777), "of a kernel that was replaced")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			k, err := findKernelIn(t.Context(), cache)
			assert.NoError(t, err)
			modules, err := k.modules()
			assert.NoError(t, err)
			assert.Len(t, modules, len(drivers))
			assert.FileExists(t, k.image())
		})
	}
	all.Wait()
	text, err := os.ReadFile(calls)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), "apt-get download linux-image-9-amd64\n"), string(text))
	assert.Equal(t, []string{"linux-image-9-amd64", "lock"}, list(t, cache))
}

// A fetch of another process that does not end is not waited for without end.
func TestCacheLocked(t *testing.T) {
	tools(t, fakeDebian(t))
	cache := t.TempDir()
	other, err := os.Create(filepath.Join(cache, "lock"))
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))
	late := errors.New("late")
	ctx, cancel := context.WithCancelCause(t.Context())
	opened := func() (n int) {
		descriptors, _ := filepath.Glob("/proc/self/fd/*")
		for _, d := range descriptors {
			if to, err := os.Readlink(d); err == nil && to == other.Name() {
				n++
			}
		}
		return n
	}
	go func() { // it is late when it waits for the lock
		for ctx.Err() == nil && opened() < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel(late)
	}()
	_, err = findKernelIn(ctx, cache)
	cancel(nil)
	require.ErrorIs(t, err, late)
	require.ErrorContains(t, err, "lock "+other.Name())
}

// A fetch that fails says what to do, leaves nothing, and the next one may succeed.
func TestNoFetch(t *testing.T) {
	for name, c := range map[string]struct{ tool, script, want string }{
		"unknown":  {"apt-cache", "true", "look for Debian's kernel: apt-cache knows no linux-image-amd64: run apt-get update"},
		"download": {"apt-get", "echo 404 >&2; exit 100", "fetch Debian's package linux-image-9-amd64: apt-get: exit status 100: 404 (run apt-get update)"},
		"nothing":  {"apt-get", "true", "apt-get download left 0 packages"},
		"broken":   {"dpkg", "echo bad archive >&2; exit 2", "dpkg: exit status 2: bad archive"},
		"empty":    {"dpkg", "mkdir $3", "0 kernels in it"},
		"module":   {"dpkg", "mkdir -p $3/boot $3/lib/modules; touch $3/boot/vmlinuz-9", "module virtio_pci: "},
		"image":    {"xz", "echo", "vmlinuz-9: not a boot image of x86 Linux: 1 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			good := fakeDebian(t)
			bad := fakeDebian(t)
			bad[c.tool] = c.script
			tools(t, bad)
			cache := t.TempDir()
			_, err := findKernelIn(t.Context(), cache)
			assert.ErrorContains(t, err, c.want)
			assert.Subset(t, []string{"lock"}, list(t, cache))
			tools(t, good)
			_, err = findKernelIn(t.Context(), cache)
			assert.NoError(t, err)
		})
	}
}

// list returns the names in a folder.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
