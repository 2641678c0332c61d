// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// overRails are settings of ranks that talk to other hosts over reliable connections, by devices that are still open.
var overRails = guest.UCX("UCX_TLS=rc,sm,self")

// sentByRails runs e2e's program rail, in which one rank of guest a sends 16 MiB to guest b, and returns how many packets each
// of a's devices sent meanwhile.
func sentByRails(t *testing.T, g *guest.Group, env []string, options, pair string) []int {
	t.Helper()
	program := testsupport.CC(t, "tpslcc", "../e2e/testdata/rail.c", "-fopenmp")
	before := packets(t, g)
	job := mpiexec(t, g, append(env, overRails...), "-hosts a,b "+options, program, pair)
	require.Zero(t, job.Code, job.Stderr)
	require.Equal(t, "sent\n", job.Stdout)
	sent := packets(t, g)
	for i := range sent {
		sent[i] -= before[i]
	}
	return sent
}

// packets returns what each device of guest a has sent so far.
func packets(t *testing.T, g *guest.Group) (sent []int) {
	t.Helper()
	counters := in(t, g, 0, nil, "sh", "-c", "cat /sys/class/infiniband/rxe*/ports/1/hw_counters/sent_pkts")
	for _, text := range strings.Fields(counters.Stdout) {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		sent = append(sent, n)
	}
	require.Len(t, sent, 2, "one counter of each device")
	return sent
}

// message is how many packets the 16 MiB take at least: soft-RoCE's are of 4 KiB at most.
const message = 16 << 20 / 4096

// Ranks of one process drive a device each: what one sends goes by its device and no other.
func TestRailsOfThreadRanks(t *testing.T) {
	g := guests(t, 2)
	testsupport.NothingLeft(t)
	for pair := range 2 {
		sent := sentByRails(t, g, nil, "-n 4 -rpp 2 -ppn 2 -nics near", strconv.Itoa(pair))
		assert.GreaterOrEqual(t, sent[pair], message, "rank %d by its device", pair)
		assert.Less(t, sent[1-pair], message/8, "rank %d by the other", pair)
	}
}

// One rank drives both devices when UCX is told to: each carries about half, and some of it twice where a connection stood still.
func TestStriping(t *testing.T) {
	g := guests(t, 2)
	testsupport.NothingLeft(t)
	sent := sentByRails(t, g, []string{"OMP_NUM_THREADS=1", "UCX_NET_DEVICES=rxe0:1,rxe1:1", "UCX_MAX_EAGER_RAILS=2", "UCX_MAX_RNDV_RAILS=2"}, "-n 2 -ppn 1", "0")
	for _, n := range sent {
		assert.GreaterOrEqual(t, n, message*2/5, "of both: %v", sent)
	}
	assert.GreaterOrEqual(t, sent[0]+sent[1], message)
}
