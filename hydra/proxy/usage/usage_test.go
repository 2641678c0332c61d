// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A tree is a made proc filesystem.
type tree struct {
	t    *testing.T
	root string
}

func (tr tree) write(path, text string) {
	path = filepath.Join(tr.root, path)
	require.NoError(tr.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(tr.t, os.WriteFile(path, []byte(text), 0o666))
}

// stat writes /proc/PATH/stat. The command holds what separates fields elsewhere.
func (tr tree) stat(path string, minor, major, user, system int) {
	tr.write(path+"/stat", fmt.Sprintf("7 (a) b 1 (c) S 1 7 7 0 -1 4194304 %d 900 %d 901 %d %d 902 903 20 0 1 0 12345 0 0\n", minor, major, user, system))
}

func (tr tree) status(path string, voluntary, involuntary int) {
	tr.write(path+"/status", fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary, involuntary))
}

func newTree(t *testing.T) (tree, *Counter) {
	tr, c := tree{t, t.TempDir()}, NewCounter()
	c.proc = tr.root
	return tr, c
}

// A rank that is a process has the times of the whole process and the switches of all its threads, also of those that come later.
func TestProcess(t *testing.T) {
	tr, c := newTree(t)
	of := []Rank{{Rank: 4, PID: 7}}
	tr.stat("7", 100, 10, 50, 5)
	tr.status("7/task/7", 20, 2)
	assert.Equal(t, map[int]channel.Usage{4: {}}, c.Count(of), "nothing yet")

	tr.stat("7", 103, 11, 60, 7)
	tr.status("7/task/7", 25, 3)
	tr.status("7/task/8", 1000, 1000) // what it did before is not known
	assert.Equal(t, channel.Usage{CPU: 120 * time.Millisecond, Faults: 4, Voluntary: 5, Involuntary: 1}, c.Count(of)[4])
	tr.status("7/task/8", 1001, 1002)
	assert.Equal(t, channel.Usage{CPU: 120 * time.Millisecond, Faults: 4, Voluntary: 6, Involuntary: 3}, c.Count(of)[4])

	require.NoError(t, os.RemoveAll(filepath.Join(tr.root, "7")))
	assert.Equal(t, 120*time.Millisecond, c.Count(of)[4].CPU, "what has ended keeps its sums")
	assert.Empty(t, c.last)
}

// Ranks that are threads have what these threads use, and not what others of the process use.
func TestThreadRanks(t *testing.T) {
	tr, c := newTree(t)
	of := []Rank{{Rank: 0, PID: 7, Threads: []int{8}}, {Rank: 1, PID: 7, Threads: []int{9, 10}}, {Rank: 2}}
	count := func(user int) map[int]channel.Usage {
		tr.stat("7", 999*user, 0, 999*user, 0)
		for _, thread := range []int{8, 9, 10} {
			path := "7/task/" + strconv.Itoa(thread)
			tr.stat(path, 0, 0, thread*user, 0)
			tr.status(path, user, 0)
		}
		return c.Count(of)
	}
	count(1)
	got := count(2)
	assert.Equal(t, channel.Usage{CPU: 80 * time.Millisecond, Voluntary: 1}, got[0])
	assert.Equal(t, channel.Usage{CPU: 190 * time.Millisecond, Voluntary: 2}, got[1])
	assert.NotContains(t, got, 2)
}

// A thread of a number that another one had begins anew.
func TestNumberOfAnotherThread(t *testing.T) {
	tr, c := newTree(t)
	of := []Rank{{Rank: 0, PID: 7, Threads: []int{8}}}
	for _, user := range []int{100, 110, 3, 4} {
		tr.stat("7/task/8", 0, 0, user, 0)
		tr.status("7/task/8", 0, 0)
		c.Count(of)
	}
	assert.Equal(t, 110*time.Millisecond, c.total[0].CPU)
}

// Files that are cut off or hold something else count as not there.
func TestGarbledFiles(t *testing.T) {
	tr, c := newTree(t)
	for _, text := range []string{"", "7 (x", "7 (x) S 1", "7 (x) S 1 7 7 0 -1 4194304 a 0 0 0 0 0 0"} {
		tr.write("7/stat", text)
		tr.write("7/task/7/status", text)
		assert.Empty(t, c.Count([]Rank{{Rank: 0, PID: 7}}))
	}
}

// The kernel's files are as this package reads them: what this process does is counted.
func TestOwnUsage(t *testing.T) {
	c, of := NewCounter(), []Rank{{Rank: 0, PID: os.Getpid()}}
	c.Count(of)
	var before, after unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &before))
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		memory, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		require.NoError(t, err)
		memory[0] = 1
		require.NoError(t, unix.Munmap(memory))
	}
	time.Sleep(time.Millisecond)
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &after))
	used := c.Count(of)[0]
	cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	assert.InDelta(t, cpu.Seconds(), used.CPU.Seconds(), 3*tick.Seconds())
	assert.GreaterOrEqual(t, used.Faults, uint64(after.Minflt-before.Minflt))
	assert.Positive(t, used.Voluntary)
	assert.Greater(t, Resident(os.Getpid()), uint64(1<<20))
	assert.Zero(t, Resident(1<<30))
}
