// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// Where there is no such RDMA port, one line says so, and nobody listens any more.
func TestNoDevice(t *testing.T) {
	f, err := readFar(environment(map[string]string{"TPSL_CARRIER": "verbs", "TPSL_RDMA_PORT": "mlx9_9:1"}))
	require.NoError(t, err)
	assert.Equal(t, far{carrier: "verbs", ports: []string{"mlx9_9:1"}}, f)
	rails, err := f.railsOf(1, nil)
	require.NoError(t, err)
	l, err := greet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	_, err = joinVerbs(l, rails, nil, tcp.Options{})
	assert.ErrorContains(t, err, "RDMA port mlx9_9:1 is not there: load its driver")
	assert.Error(t, l.Close())
}

// A process has a virtual rail for each NUMA node or port of a device, whichever are more, or as many as it is told, and none without a
// port of its own.
func TestVirtualRails(t *testing.T) {
	for name, c := range map[string]struct {
		rails, devices string
		ports          int
		nodes          []int
		want           []rail
	}{
		"one node":                       {"", "", 4, []int{0}, []rail{{"", anyNode}}},
		"no NUMA":                        {"", "", 4, nil, []rail{{"", anyNode}}},
		"two nodes":                      {"", "", 4, []int{0, 3}, []rail{{"", 0}, {"", 3}}},
		"one port on two nodes":          {"", "", 1, []int{0, 1}, []rail{{"", 0}}},
		"two devices":                    {"", "a:1,b:1", 4, []int{0}, []rail{{"a:1", anyNode}, {"b:1", anyNode}}},
		"switched off":                   {"1", "", 4, []int{0, 1}, []rail{{"", 0}}},
		"more than nodes":                {"4", "a:1", 4, []int{0, 1}, []rail{{"a:1", 0}, {"a:1", 0}, {"a:1", 1}, {"a:1", 1}}},
		"more than devices and no nodes": {"3", "a:1,b:1", 8, nil, []rail{{"a:1", anyNode}, {"b:1", anyNode}, {"a:1", anyNode}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := readFar(environment(map[string]string{"TPSL_CARRIER": "verbs", "TPSL_RDMA_PORT": c.devices, "TPSL_RDMA_RAILS": c.rails}))
			require.NoError(t, err)
			got, err := f.railsOf(c.ports, c.nodes)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	for _, rails := range []string{"0", "-1", "65", "two", "1.5"} {
		_, err := readFar(environment(map[string]string{"TPSL_CARRIER": "verbs", "TPSL_RDMA_RAILS": rails}))
		assert.EqualError(t, err, "environment: TPSL_RDMA_RAILS=\""+rails+"\": want a number from 1 to 64")
	}
	for _, ports := range []string{",", "a:1,", ",a:1", "a:1,,b:1"} {
		_, err := readFar(environment(map[string]string{"TPSL_CARRIER": "verbs", "TPSL_RDMA_PORT": ports}))
		assert.EqualError(t, err, "environment: TPSL_RDMA_PORT=\""+ports+"\": a name between commas is missing")
	}
	_, err := far{carrier: "verbs", rails: 3}.railsOf(2, nil)
	assert.EqualError(t, err, "environment: TPSL_RDMA_RAILS=3: this process has 2 ports: ask for no more rails")
	got, err := far{carrier: "tcp"}.railsOf(2, []int{0, 1})
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.NotEmpty(t, numaNodes())
}
