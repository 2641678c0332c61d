// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/pmi"
)

// While the job reads the host file of a spawn it serves nobody, so the read must not block.
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

// A proxy that asks for no ranks gets an error.
func TestSpawnOfNoRanks(t *testing.T) {
	plan, err := New(segments(HostOptions{}, 1), Site{Host: "self", KVSName: "kvs"})
	require.NoError(t, err)
	for _, request := range []pmi.SpawnRequest{{}, {Blocks: []pmi.SpawnBlock{{Ranks: -1, Args: []string{"true"}}}}} {
		_, err = plan.Spawn(request, 1, 1)
		assert.ErrorIs(t, err, ErrNobody)
	}
}

// Spawned ranks are a group of their own. Their world names the key-value space of the ranks that asked. The numbers of their proxies
// continue those of the job.
func TestSpawn(t *testing.T) {
	request := segments(HostOptions{List: "a,b"}, 2)
	request.Stdio.Stdin, request.Hosts.RankMap = AllRanks(), "1,0"
	site := Site{Host: "self", KVSName: "kvs"}
	require.NoError(t, site.FindHosts(request.Hosts))
	first, err := New(request, site)
	require.NoError(t, err)
	preputs := []pmi.Entry{{Key: "k", Value: "v"}}
	block := pmi.SpawnBlock{Ranks: 3, Args: []string{"worker"}, Env: []string{"A=1"}, Info: map[string]string{"wdir": "/w"}}
	spawned, err := first.Spawn(pmi.SpawnRequest{Blocks: []pmi.SpawnBlock{block}, Preputs: preputs}, 4, 7)
	require.NoError(t, err)
	assert.Equal(t, "a=0,2 b=1", layout(spawned))
	for i, host := range spawned.Hosts {
		assert.Equal(t, []any{4, 7 + i, "kvs.4", "kvs"}, []any{host.Group, host.ID, host.World.KVSName, host.World.Spawner})
		assert.Equal(t, preputs, host.World.Preputs)
		assert.False(t, host.ReadsStdin())
		assert.Equal(t, []string{"A=1"}, host.Programs[0].Env)
		assert.Equal(t, "/w", host.Programs[0].Wdir)
	}
	again, err := spawned.Spawn(pmi.SpawnRequest{Blocks: []pmi.SpawnBlock{block}}, 5, 9)
	require.NoError(t, err)
	assert.Equal(t, []string{"kvs.5", "kvs.4"}, []string{again.Hosts[0].World.KVSName, again.Hosts[0].World.Spawner})
}
