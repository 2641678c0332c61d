// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// born is when all recorded threads began.
const born = 5

// record writes what /proc says of a thread.
func record(t *testing.T, root string, id, faults, voluntary, involuntary int, onCPU time.Duration) {
	t.Helper()
	folder := filepath.Join(root, fmt.Sprint(id), "task", fmt.Sprint(id))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	// Fields 10 and 12 of the 52 are the faults, 22 is the start.
	zeros := func(n int) string { return strings.Repeat(" 0", n) }
	write("stat", fmt.Sprintf("%d (a b) R 1 1 1 0 -1 0 %d 0 1%s %d%s\n", id, faults-1, zeros(9), born, zeros(30)))
	write("status", fmt.Sprintf("Name:\ta b\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary, involuntary))
	write("schedstat", fmt.Sprintf("%d 5 5\n", onCPU))
}

func TestProc(t *testing.T) {
	root := t.TempDir()
	record(t, root, 11, 100, 10, 20, time.Second)
	record(t, root, 12, 50, 1, 2, time.Second)
	p, err := FromProc(root)
	require.NoError(t, err)
	threads := []Thread{{11, 0}, {12, 0}, {13, 1}}
	require.NoError(t, p.Follow(threads, nil))
	record(t, root, 11, 103, 12, 25, time.Second+time.Nanosecond)
	record(t, root, 12, 51, 1, 3, time.Hour)
	require.NoError(t, p.Follow(threads, nil), "again")

	s, err := p.Read()
	require.NoError(t, err)
	assert.Positive(t, s.Threads[threads[0]][OffCPU])
	delete(s.Threads[threads[0]], OffCPU)
	delete(s.Owners[0], OffCPU)
	assert.Equal(t, map[Thread]Counts{
		threads[0]: {Faults: 3, Voluntary: 2, Involuntary: 5},
		threads[1]: {Faults: 1, Voluntary: 0, Involuntary: 1, OffCPU: 0},
	}, s.Threads, "thread 13 is not there")
	assert.Equal(t, map[int]Counts{0: {Faults: 4, Voluntary: 2, Involuntary: 6}}, s.Owners)
	assert.Nil(t, s.Faults)

	require.NoError(t, os.RemoveAll(filepath.Join(root, "12")))
	s, err = p.Read()
	require.NoError(t, err)
	assert.Len(t, s.Threads, 1)
	assert.EqualValues(t, 4, s.Owners[0][Faults], "what a thread did before it ended stays")

	again := filepath.Join(root, "11/task/11/stat")
	text, err := os.ReadFile(again)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(again, []byte(strings.Replace(string(text), fmt.Sprintf(" %d ", born), " 6 ", 1)), 0o644))
	s, err = p.Read()
	require.NoError(t, err)
	assert.Empty(t, s.Threads, "another thread got the number")
	assert.EqualValues(t, 4, s.Owners[0][Faults])
}

func TestProcMalformed(t *testing.T) {
	root := t.TempDir()
	record(t, root, 11, 100, 10, 20, 0)
	require.NoError(t, os.WriteFile(filepath.Join(root, "11/task/11/stat"), []byte("11 (a"), 0o644))
	p, err := FromProc(root)
	require.NoError(t, err)
	assert.ErrorContains(t, p.Follow([]Thread{Thread{11, 0}}, nil), "thread 11: ")
}

// Of threads that cannot be read the first is named, each time.
func TestProcNamesTheFirst(t *testing.T) {
	root := t.TempDir()
	p, err := FromProc(root)
	require.NoError(t, err)
	for id := 11; id < 20; id++ {
		record(t, root, id, 100, 10, 20, 0)
		require.NoError(t, p.Follow([]Thread{Thread{id, 0}}, nil))
		require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprint(id), "task", fmt.Sprint(id), "stat"), []byte("("), 0o644))
	}
	_, err = p.Read()
	assert.ErrorContains(t, err, "thread 11: ")
}

func TestProcLive(t *testing.T) {
	l := startLoad(t)
	p, err := FromProc("/proc")
	require.NoError(t, err)
	require.NoError(t, p.Follow([]Thread{Thread{l.pid, 3}}, nil))
	pages, _, _, _ := l.run(t)
	s, err := p.Read()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Owners[3][Faults], 2*pages, "those of its main thread: fresh pages and copies")
	assert.Positive(t, s.Owners[3][Voluntary])
}
