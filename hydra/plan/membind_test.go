// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func TestMemBinding(t *testing.T) {
	m := topology.Read(topologytest.MemoryNodes.Tree(), cpus(t, "0-7"))
	for _, c := range []struct{ text, cpus, want string }{
		{"firsttouch", "0", ""},
		{"bind", "1", "0"},
		{"bind", "3-4", "0-1"},
		{"BIND:2", "1", "2"},
		{"interleave", "1", "0-3"},
		{"interleave:1,3", "0", "1,3"},
	} {
		b, err := ParseMemBinding(c.text)
		require.NoError(t, err)
		nodes, err := b.NodesOf(cpus(t, c.cpus), m)
		require.NoError(t, err)
		assert.Equal(t, c.want, nodes.String(), c.text)
		assert.True(t, b.Active())
	}
	for _, text := range []string{"", "nexttouch", "bind:", "bind:x", "firsttouch:0", "local"} {
		_, err := ParseMemBinding(text)
		assert.Error(t, err, text)
	}
	_, err := MemBinding{Policy: "bind", Nodes: topology.Set{0, 4}}.NodesOf(topology.Set{0}, m)
	assert.ErrorContains(t, err, "NUMA nodes 0,4 are not all among 0-3")
	_, err = MemBinding{Policy: "bind"}.NodesOf(topology.Set{0}, &topology.Machine{})
	assert.ErrorContains(t, err, "name them")
	none, err := ParseMemBinding("none")
	require.NoError(t, err)
	assert.False(t, none.Active())
}
