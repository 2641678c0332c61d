// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/pmi"
)

// The job serves nobody while it reads the host file of a spawn, so that must not wait.
func TestSpawnHostFile(t *testing.T) {
	file, pipe := filepath.Join(t.TempDir(), "hosts"), filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, os.WriteFile(file, []byte("n1:2\nn2\n"), 0o600))
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	block := func(file string) pmi.SpawnBlock {
		return pmi.SpawnBlock{Ranks: 1, Args: []string{"true"}, Info: map[string]string{"hostfile": file}}
	}
	segment, err := spawnSegment(block(file), "self")
	require.NoError(t, err)
	assert.Equal(t, "n1:2,n2:1", segment.Hosts)
	_, err = spawnSegment(block(pipe), "self")
	assert.ErrorContains(t, err, "pipe is not a regular file")
	_, err = spawnSegment(block(file+"s"), "self")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A proxy that asks for no ranks is told so.
func TestSpawnOfNoRanks(t *testing.T) {
	plan, err := NewPlan(Options{Segments: []Segment{{Ranks: 1, PerProcess: 1, Args: []string{"true"}}}}, Setting{Host: "self", KVSName: "kvs"})
	require.NoError(t, err)
	block := pmi.SpawnBlock{Ranks: -1, Args: []string{"true"}}
	for _, request := range []pmi.SpawnRequest{{}, {Blocks: []pmi.SpawnBlock{block}}} {
		_, err = plan.spawned(request, 1)
		assert.ErrorIs(t, err, errNobody)
		assert.Empty(t, (&birth{request: request}).codes(-1))
	}
}
