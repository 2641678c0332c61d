// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListenInRange(t *testing.T) {
	taken, err := listen("")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	assert.True(t, taken.Addr().(*net.TCPAddr).IP.IsLoopback())

	_, err = listen(fmt.Sprintf("%d:%d", port, port))
	assert.EqualError(t, err, fmt.Sprintf("no port from %d to %d is free", port, port))

	next, err := listen(fmt.Sprintf("%d:%d", port, port+50))
	require.NoError(t, err)
	defer next.Close()
	got := next.Addr().(*net.TCPAddr).Port
	assert.True(t, port < got && got <= port+50, got)
}
