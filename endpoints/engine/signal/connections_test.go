// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// 128 processes have as many TCP connections as the torus has links, 6.36 ends for each process, and rank 0 reaches the farthest.
func TestConnections(t *testing.T) {
	testsupport.NothingLeft(t)
	const size = 128
	torus := torus(t, size, 3)
	tallies := forEach(size, func(rank int) *tally { return newTally(t, rank, 1) })
	before := connections(t)
	all := joined(t, overTCP, torus, func(rank int) Options { return Options{Message: tallies[rank].message} })
	// A connection has two descriptors on a side for a moment.
	require.Eventually(t, func() bool { return connections(t)-before == 814 }, carriertest.Within, time.Millisecond, "ends of connections")
	for to := range size {
		require.NoError(t, all[0].Send(to, 0, text(0, to, 0)))
	}
	together(t, size, func(rank int) error { return tallies[rank].wait() })
}

// connections returns how many descriptors of this process are connected TCP sockets.
func connections(t *testing.T) (count int) {
	t.Helper()
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	for fd := range min(int(limit.Cur), 10000) {
		address, err := unix.Getpeername(fd)
		if _, isInet := address.(*unix.SockaddrInet4); err == nil && isInet {
			count++
		}
	}
	return count
}
