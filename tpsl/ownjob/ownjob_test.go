// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ownjob

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/pmi"
)

// heard collects what the handlers are told.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

func (h *heard) handlers() Handlers {
	return Handlers{
		Aborted: func(code int) { h.add(fmt.Sprint("abort with ", code)) },
		Warned:  h.add,
	}
}

func clients(t *testing.T, ranks int, h *heard) (*Job, []*pmi.Client, []*os.File) {
	t.Helper()
	job, fds, err := New(ranks, h.handlers())
	require.NoError(t, err)
	var all []*pmi.Client
	var files []*os.File
	for rank, fd := range fds {
		f := os.NewFile(uintptr(fd), fmt.Sprint("rank ", rank))
		files = append(files, f)
		all = append(all, pmi.NewClient(f))
	}
	return job, all, files
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// Two jobs at once: each rank reads what the others of its own job have put.
func TestTwoJobsAtOnce(t *testing.T) {
	const ranks = 4
	warm, _, files := clients(t, 1, &heard{}) // the first opens what Go polls by
	require.NoError(t, files[0].Close())
	warm.Close()
	before := openFiles(t)
	var all sync.WaitGroup
	for job := range 2 {
		h := &heard{}
		j, cs, files := clients(t, ranks, h)
		var done sync.WaitGroup
		for rank, c := range cs {
			done.Go(func() {
				assert.NoError(t, c.Init())
				assert.NoError(t, c.Put(fmt.Sprint("key", rank), fmt.Sprint(job, rank)))
				assert.NoError(t, c.Barrier())
				for other := range ranks {
					value, err := c.Get(fmt.Sprint("key", other))
					assert.NoError(t, err)
					assert.Equal(t, fmt.Sprint(job, other), value)
				}
				mapping, err := c.Get("PMI_process_mapping")
				assert.NoError(t, err)
				assert.Equal(t, "(vector,(0,1,4))", mapping)
				assert.NoError(t, c.Finalize())
				assert.NoError(t, files[rank].Close())
			})
		}
		all.Go(func() {
			done.Wait()
			j.Close()
			assert.Empty(t, h.lines)
		})
	}
	all.Wait()
	assert.Equal(t, before, openFiles(t))
}

func TestAbort(t *testing.T) {
	h := &heard{}
	j, cs, files := clients(t, 2, h)
	require.NoError(t, cs[1].Init())
	require.NoError(t, cs[1].Abort(7))
	for _, f := range files {
		require.NoError(t, f.Close())
	}
	j.served.Wait()
	j.Close()
	assert.Equal(t, []string{"abort with 7"}, h.lines)
}

// A job may end while ranks wait in a barrier.
func TestCloseEndsABarrier(t *testing.T) {
	j, cs, files := clients(t, 2, &heard{})
	require.NoError(t, cs[0].Init())
	entered := make(chan error)
	go func() { entered <- cs[0].Barrier() }()
	for waits := false; !waits; waits, _ = j.server.InBarrier(0) {
	}
	j.Close()
	assert.Error(t, <-entered)
	for _, f := range files {
		require.NoError(t, f.Close())
	}
}

func TestSpawnIsRefused(t *testing.T) {
	h := &heard{}
	n := &nobody{warn: h.handlers().Warned}
	assert.Equal(t, pmi.SpawnReply{Error: NoSpawn}, n.Spawn(pmi.SpawnRequest{}))
	assert.Equal(t, []string{"MPI_Comm_spawn: " + NoSpawn}, h.lines)
}

func TestNames(t *testing.T) {
	j, cs, files := clients(t, 2, &heard{})
	for _, c := range cs {
		require.NoError(t, c.Init())
	}
	require.NoError(t, cs[0].Publish("service", "port"))
	port, err := cs[1].Lookup("service")
	require.NoError(t, err)
	assert.Equal(t, "port", port)
	for _, f := range files {
		require.NoError(t, f.Close())
	}
	j.Close()
}

// Where descriptors run out, none of those that were made stays.
func TestTooFewDescriptors(t *testing.T) {
	before := openFiles(t)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: old.Max}))
	_, _, err := New(100, (&heard{}).handlers())
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	assert.ErrorContains(t, err, "make the PMI sessions of 100 ranks: too many open files")
	assert.Equal(t, before, openFiles(t))
}
