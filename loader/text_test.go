// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader"
)

// copied is a mapping of a copy of text, in kB.
type copied struct{ size, resident, huge int }

func copies(t *testing.T, of string) (found []copied) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		kb := 0
		switch n, _ := fmt.Sscanf(value, " %d kB", &kb); {
		case n == 0 && strings.Contains(lines.Text(), "-"): // the head of a mapping, or VmFlags
			if inside = strings.Contains(lines.Text(), "r-xp") && strings.HasSuffix(lines.Text(), "/memfd:"+of+" (deleted)"); inside {
				found = append(found, copied{})
			}
		case !inside:
		case key == "Size":
			found[len(found)-1].size = kb
		case key == "Rss":
			found[len(found)-1].resident = kb
		case key == "ShmemPmdMapped":
			found[len(found)-1].huge = kb
		}
	}
	return found
}

// hugeText has text in huge pages until the test ends, and returns why there is none.
func hugeText(t *testing.T) *[]string {
	t.Helper()
	var why []string
	loader.Configure(loader.Config{HugeText: true, Refused: func(err error) { why = append(why, err.Error()) }})
	t.Cleanup(func() { loader.Configure(loader.Config{}) })
	return &why
}

func noMemory(refused []string) bool {
	said := strings.Join(refused, "\n")
	return strings.Contains(said, unix.ENOMEM.Error()) || strings.Contains(said, unix.EAGAIN.Error())
}

// All instances run one copy of the text, from pages that are huge; each has its data, and the copy's place goes with it.
func TestHugeText(t *testing.T) {
	path := library(t, "text.c")
	refused := hugeText(t)
	a, b := open(t, path), open(t, path)
	for try := 0; try < 30 && noMemory(*refused); try++ { // the kernel has no huge page just now
		a.Close()
		b.Close()
		time.Sleep(time.Second)
		refused = hugeText(t)
		a, b = open(t, path), open(t, path)
	}
	if len(*refused) > 0 {
		testsupport.Unable(t, "%s", *refused)
	}
	assert.Equal(t, 1, call(t, a, "far"))
	assert.Equal(t, 2, call(t, a, "far"))
	assert.Equal(t, 1, call(t, b, "far"))
	pages := copies(t, "libtext.so")
	require.Len(t, pages, 2)
	for _, p := range pages {
		assert.Equal(t, 4096, p.size)
		assert.Positive(t, p.resident)
		assert.Equal(t, p.resident, p.huge, "what is resident is huge")
	}
	a.Close()
	assert.Len(t, copies(t, "libtext.so"), 1)
	assert.Equal(t, 2, call(t, b, "far"))
	b.Close()
	assert.Empty(t, copies(t, "libtext.so"))
}

// A library has the text of its file where it is small, where the kernel refuses a copy, and where the copy's
// descriptor was closed.
func TestTextStaysTheFiles(t *testing.T) {
	refused := hugeText(t)
	small := open(t, counter(t))
	assert.Equal(t, 6, call(t, small, "bump"))
	small.Close()
	assert.Empty(t, *refused)

	path := library(t, "text.c", "-DLIMITED")
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: before.Max}))
	for range 2 {
		i, err := loader.Open(path)
		if assert.NoError(t, err) {
			assert.Equal(t, 1, call(t, i, "far"))
			i.Close()
		}
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
	assert.Equal(t, []string{"text of libtext.so in huge pages: 4194304 bytes are more than ulimit -f allows: it stays in small ones"}, *refused)

	path = library(t, "text.c", "-DCLOSED")
	i := open(t, path)
	defer i.Close()
	before2 := copies(t, "libtext.so")
	for _, fd := range descriptorsOf(t, "/memfd:libtext.so (deleted)") {
		require.NoError(t, unix.Close(fd))
	}
	second := open(t, path)
	defer second.Close()
	assert.Equal(t, 1, call(t, second, "far"))
	assert.Equal(t, before2, copies(t, "libtext.so"))
}

// descriptorsOf lists the descriptors of this process that are for a file.
func descriptorsOf(t *testing.T, file string) (found []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == file {
			var fd int
			_, err := fmt.Sscan(e.Name(), &fd)
			require.NoError(t, err)
			found = append(found, fd)
		}
	}
	return found
}
