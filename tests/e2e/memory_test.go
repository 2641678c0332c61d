// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const pageSize = 4096

// A mapping is an entry of /proc/PID/smaps.
type mapping struct {
	start, end, offset uint64
	perm, file         string // file is empty for anonymous memory
	privateDirty       uint64 // bytes
}

// mappings reads /proc/PID/smaps: proc_pid_smaps(5).
func mappings(t *testing.T, pid int) (all []mapping) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	require.NoError(t, err)
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		line := scan.Text()
		var m mapping
		var device string
		var inode, kilobytes uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d %s", &m.start, &m.end, &m.perm, &m.offset, &device, &inode, &m.file); n >= 6 {
			all = append(all, m)
		} else if n, _ := fmt.Sscanf(line, "Private_Dirty: %d kB", &kilobytes); n == 1 {
			all[len(all)-1].privateDirty = kilobytes << 10
		}
	}
	return all
}

// frames returns the page frame number of each page of a mapping, 0 for a page that
// is not resident: proc_pid_pagemap(5).
func frames(t *testing.T, pid int, m mapping) []uint64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	require.NoError(t, err)
	defer f.Close()
	entries := make([]uint64, (m.end-m.start)/pageSize)
	require.NoError(t, binary.Read(io.NewSectionReader(f, int64(m.start/pageSize*8), 1<<40), binary.LittleEndian, entries))
	for i, e := range entries {
		const present, frame = 1 << 63, 1<<55 - 1
		if entries[i] = e & frame; e&present == 0 {
			entries[i] = 0
		} else if entries[i] == 0 {
			testsupport.Unable(t, "page frame numbers read as 0: the test needs CAP_SYS_ADMIN")
		}
	}
	return entries
}

// touch reads all of a mapping, so that every page of it is resident.
func touch(t *testing.T, pid int, m mapping) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	require.NoError(t, err)
	defer f.Close()
	_, err = io.Copy(io.Discard, io.NewSectionReader(f, int64(m.start), int64(m.end-m.start)))
	require.NoError(t, err)
}

// selected returns the mappings with the permissions of the file of a name.
func selected(all []mapping, perm, name string) (found []mapping) {
	for _, m := range all {
		if m.perm == perm && strings.HasPrefix(filepath.Base(m.file), name) {
			found = append(found, m)
		}
	}
	return found
}

// instancesDirty adds up what instances have written: the mappings of the files that
// have count executable ones, with the zeroed memory behind their data.
func instancesDirty(all []mapping, count int) (sum uint64, files []string) {
	executable := map[string]int{}
	for _, m := range all {
		if m.perm == "r-xp" {
			executable[m.file]++
		}
	}
	maps.DeleteFunc(executable, func(_ string, n int) bool { return n != count })
	for i, m := range all {
		behind := m.file == "" && i > 0 && all[i-1].end == m.start && all[i-1].perm == "rw-p" && executable[all[i-1].file] > 0
		if executable[m.file] > 0 || behind && m.perm == "rw-p" {
			sum += m.privateDirty
		}
	}
	return sum, slices.Sorted(maps.Keys(executable))
}

// pagesApart counts the pages of which every instance has its own.
func pagesApart(instances [][]uint64) (count int) {
	for page := range instances[0] {
		seen := map[uint64]bool{}
		for _, frames := range instances {
			seen[frames[page]] = true
		}
		if len(seen) == len(instances) && !seen[0] {
			count++
		}
	}
	return count
}

// The text of the MPI library is in memory once, however many instances a process
// has; their data is their own.
func TestTextIsResidentOnce(t *testing.T) {
	testsupport.NothingLeft(t)
	const ranks = 8
	program := fixture(t, "share")
	job := start(t, nil, built(t, "bin/mpiexec"), "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(ranks), program)
	pid := job.rank(t, program)
	all := mappings(t, pid)

	text := selected(all, "r-xp", "libmpich.so")
	require.Len(t, text, ranks)
	var first []uint64
	for i, m := range text {
		require.Equal(t, text[0].offset, m.offset)
		var have []uint64
		for range 5 { // the kernel may move or take back a page meanwhile
			touch(t, pid, text[0])
			touch(t, pid, m)
			first, have = frames(t, pid, text[0]), frames(t, pid, m)
			if !slices.Contains(first, 0) && slices.Equal(first, have) {
				break
			}
		}
		require.NotContains(t, first, uint64(0), "a page that is not resident")
		assert.Equal(t, first, have, "page frames of the text of instances 0 and %d", i)
	}

	var data [][]uint64
	for _, m := range selected(all, "rw-p", "libmpich.so") {
		data = append(data, frames(t, pid, m))
	}
	require.Len(t, data, ranks)
	assert.Positive(t, pagesApart(data), "no page of data is an instance's own")

	sum, files := instancesDirty(all, ranks)
	t.Logf("%d instances: %d KiB of text of libmpich resident once; %d KiB of private memory each, in %d libraries",
		ranks, len(first)*pageSize>>10, sum/ranks>>10, len(files))

	require.NoError(t, job.stdin.Close())
	require.NoError(t, job.Wait())
}
