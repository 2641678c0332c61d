// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// What tpsl nic -json and rdma -j tell of a host.
type counted struct {
	Ranks []struct {
		Rank     int
		Contexts []struct{ QPs map[string]int }
	}
	Node struct {
		QPs      map[string]int
		Formulae struct{ Here, Elsewhere, NICs, RC, UD int }
	}
}

type queuePair struct {
	Type string
	PID  int // 0: the kernel's own
}

// A node has the queue pairs that the formulae say, with a process for each rank and with ranks that are threads.
//
// UCX with rc alone makes, by each NIC: for each pair of ranks a queue pair at either end, RC; one more from a rank to itself, as
// its transport for that cannot lend memory (UCT self has no zero copy); and for the set-up of connections one of a
// rank to all, UD (ud is rc's auxiliary transport). So with C ranks of S on a node there are C*(S-C) to other nodes, which is
// the published number, C*C within, and C UD. MPICH makes all its connections in MPI_Init: a ring has as many as
// all-to-all.
func TestQueuePairs(t *testing.T) {
	guests := guests(t, 2)
	testsupport.NothingLeft(t)
	flat, threads := testsupport.CC(t, "mpicc.mpich", "testdata/connect.c"), testsupport.CC(t, "tpslcc", "testdata/connect.c", "-fopenmp")
	count := `echo "$(hostname)@$(` + testsupport.Build(t) + `/bin/tpsl nic -json %d | tr -d '\n')@$(rdma -j resource show qp | tr -d '\n')"`
	for name, job := range map[string]struct {
		options string
		program []string
		nics    []string
		here    map[string]int // ranks of each host that tells
	}{
		"flat":                      {"-n 4 -hosts a:2,b:2", []string{flat, "all", count, "0", "2"}, []string{"rxe0:1"}, map[string]int{"a": 2, "b": 2}},
		"threads":                   {"-n 4 -hosts a:2,b:2 -rpp 2", []string{threads, "all", count, "0", "2"}, []string{"rxe0:1"}, map[string]int{"a": 2, "b": 2}},
		"threads in a ring, uneven": {"-n 4 -hosts a:1,b:3 -rpp 3", []string{threads, "ring", count, "0", "1"}, []string{"rxe0:1"}, map[string]int{"a": 1, "b": 3}},
		"one node, two NICs":        {"-n 2 -hosts a -rpp 2", []string{threads, "all", count, "0"}, []string{"rxe0:1", "rxe1:1"}, map[string]int{"a": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mpiexec(t, guests, guest.UCX("UCX_TLS=rc,self", "UCX_NET_DEVICES="+strings.Join(job.nics, ",")), job.options, job.program...)
			require.Zero(t, r.Code, r.Stderr)
			lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
			require.Len(t, lines, len(job.here))
			size, _ := strconv.Atoi(strings.Fields(job.options)[1])
			for _, line := range lines {
				host, ours, theirs := cut3(t, line)
				checkCounts(t, ours, job.here[host], size, len(job.nics))
				checkAgainstRDMA(t, ours, theirs)
			}
		})
	}
}

// cut3 reads what a host has told.
func cut3(t *testing.T, line string) (host string, ours counted, theirs []queuePair) {
	parts := strings.Split(line, "@")
	require.Len(t, parts, 3, line)
	require.NoError(t, json.Unmarshal([]byte(parts[1]), &ours), line)
	require.NoError(t, json.Unmarshal([]byte(parts[2]), &theirs), line)
	return parts[0], ours, theirs
}

func checkCounts(t *testing.T, have counted, here, size, nics int) {
	elsewhere := size - here
	assert.Equal(t, here, have.Node.Formulae.Here)
	assert.Equal(t, elsewhere, have.Node.Formulae.Elsewhere)
	assert.Equal(t, nics, have.Node.Formulae.NICs)
	assert.Equal(t, here*elsewhere*nics, have.Node.Formulae.RC)
	assert.Equal(t, map[string]int{"RC": have.Node.Formulae.RC + here*here*nics, "UD": have.Node.Formulae.UD}, have.Node.QPs)
	require.Len(t, have.Ranks, here, "each rank is known")
	for _, rank := range have.Ranks {
		require.Len(t, rank.Contexts, nics, "rank %d opens each device once", rank.Rank)
		for _, context := range rank.Contexts {
			assert.Equal(t, map[string]int{"RC": size, "UD": 1}, context.QPs, "rank %d", rank.Rank)
		}
	}
}

// checkAgainstRDMA compares the counts with what the rdma command lists.
func checkAgainstRDMA(t *testing.T, have counted, all []queuePair) {
	users := map[string]int{}
	for _, qp := range all {
		if qp.PID != 0 {
			users[qp.Type]++
		}
	}
	assert.Equal(t, users, have.Node.QPs)
}
