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
	assert.Equal(t, far{carrier: "verbs", port: "mlx9_9:1"}, f)
	l, err := greet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	_, err = joinVerbs(l, f.port, tcp.Options{})
	assert.ErrorContains(t, err, "RDMA port mlx9_9:1 is not there: load its driver")
	assert.Error(t, l.Close())
}
