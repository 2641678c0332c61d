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
	program := testsupport.CC(t, "gcc", "testdata/stuck_start.c", "-fPIE", "-pie")
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
	// Two signals that wait for a busy launcher at the same time are one, so they come until it has ended.
	end := func(way string, job *background, sig unix.Signal, pause time.Duration) {
		require.Eventually(t, func() bool {
			_ = job.Process.Signal(sig)
			return len(job.processes()) == 0
		}, limit/2, pause, way)
		err := job.Wait()
		if way == "hydra" {
			return // under load, its proxy may fail an assertion there, and it then ends with 0
		}
		require.Error(t, err, way)
		assert.Equal(t, 255, job.ProcessState.ExitCode(), way)
	}
	for way := range ways {
		end(way, begin(way), unix.SIGINT, 200*time.Millisecond)
	}
	jobs := map[string]*background{}
	for way := range ways {
		jobs[way] = begin(way)
	}
	const apart = 1100 * time.Millisecond // what comes within a second is one request
	for range 2 {
		require.NoError(t, jobs["hydra"].Process.Signal(unix.SIGTERM))
		time.Sleep(apart)
	}
	end("flat", jobs["flat"], unix.SIGTERM, apart)
	end("private", jobs["private"], unix.SIGTERM, apart)
	assert.NotEmpty(t, jobs["hydra"].processes())
}
