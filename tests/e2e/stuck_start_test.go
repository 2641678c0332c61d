// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Ranks that are stuck before main, and ignore SIGINT and SIGTERM, end at a second SIGINT, at once, and at a second SIGTERM, in the
// time that mpiexec states. mpiexec.hydra ends them at a second SIGINT only.
func TestStuckStart(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "gcc", "testdata/stuck.c", "-fPIE", "-pie")
	ways := map[string][]string{
		"flat":    {built(t, "bin/mpiexec"), "-n", "2"},
		"private": {built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-tpsl", "private"},
		"hydra":   append(testsupport.Hydra(t), "-n", "2"),
	}
	begin := func(way string) *background {
		job := start(t, nil, append(slices.Clone(ways[way]), program)...)
		line, err := job.out.ReadString('\n') // the other rank's: it ignores the signals from then on
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
		return job
	}
	end := func(way string, job *background) {
		require.Error(t, job.Wait(), way)
		assert.Equal(t, 255, job.ProcessState.ExitCode(), way)
		require.Eventually(t, func() bool { return len(job.processes()) == 0 }, 20*time.Second, 20*time.Millisecond, way)
	}
	for way := range ways {
		job := begin(way)
		require.NoError(t, job.Process.Signal(unix.SIGINT))
		time.Sleep(100 * time.Millisecond) // two signals that wait at the same time are one
		require.NoError(t, job.Process.Signal(unix.SIGINT))
		end(way, job)
	}
	jobs := map[string]*background{}
	for way := range ways {
		jobs[way] = begin(way)
	}
	for range 2 {
		for _, job := range jobs {
			require.NoError(t, job.Process.Signal(unix.SIGTERM))
		}
		time.Sleep(1100 * time.Millisecond) // what comes within a second is one request
	}
	end("flat", jobs["flat"])
	end("private", jobs["private"])
	assert.NotEmpty(t, jobs["hydra"].processes())
}
