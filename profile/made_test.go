// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Places of made-up profiles.
const (
	placeInit = iota
	placeReceive
	placeSend
	placeWaitall
	placeSum
	placeGather
	placePut
	placeFence
	placeFinalize
)

// madeUp makes the profile of a job that nobody has run: a grid of ranks, rpp in a process, on some hosts. Each rank exchanges faces with its neighbours in
// the grid, sums up with all others, gathers in its row and puts a little into the window of the next. The rank in the middle computes longer than the
// others. Two calls give the same profile.
func madeUp(ranks, rpp, hosts int) *Profile {
	random := rand.New(rand.NewPCG(uint64(ranks), uint64(rpp)))
	side := int(math.Sqrt(float64(ranks)))
	for ranks%side != 0 {
		side--
	}
	p := &Profile{
		Format: Format,
		Job: Job{
			Command: "./solver -grid 4096 -steps 2000 input/reactor.nml", Layout: fmt.Sprintf("%d ranks in each process, as threads; blocks of ranks on hosts", rpp), Version: "0.1.0",
			Library: "MPICH 4.0.2", Began: time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC), Elapsed: 101.4, Processes: ranks / rpp,
		},
		Places: []Place{
			placeInit:     {"/home/ann/solver/src/main.c", 31, "main", "/home/ann/solver/solver"},
			placeReceive:  {"/home/ann/solver/src/halo.c", 66, "exchange", "/home/ann/solver/solver"},
			placeSend:     {"/home/ann/solver/src/halo.c", 71, "exchange", "/home/ann/solver/solver"},
			placeWaitall:  {"/home/ann/solver/src/halo.c", 88, "exchange", "/home/ann/solver/solver"},
			placeSum:      {"/home/ann/solver/src/solver.c", 212, "residual", "/home/ann/solver/solver"},
			placeGather:   {"/home/ann/solver/src/output.f90", 55, "write_row", "/home/ann/solver/solver"},
			placePut:      {"", 0, "", "/opt/hist/lib/libhist.so.2"},
			placeFence:    {"", 0, "hist_sync", "/opt/hist/lib/libhist.so.2"},
			placeFinalize: {"/home/ann/solver/src/main.c", 140, "main", "/home/ann/solver/solver"},
		},
		Communicators: []Communicator{{Name: "MPI_COMM_WORLD", Size: ranks, Members: span(0, ranks)}},
		Notes:         []string{"Calls of rank 1 after its 1,000,000th place are counted together."},
	}
	for h := range hosts {
		p.Hosts = append(p.Hosts, Host{Name: fmt.Sprintf("node%02d", h+1), CPUs: 64, ClockError: 2e-6 * float64(min(h, 1))})
	}
	for row := range ranks / side {
		p.Communicators = append(p.Communicators, Communicator{Name: fmt.Sprintf("row %d", row), Size: side, Members: span(row*side, side)})
	}
	for i := range ranks {
		p.Ranks = append(p.Ranks, madeUpRank(i, ranks, side, rpp, hosts, random))
	}
	return p
}

// span is n ranks from the first one on, as members.
func span(first, n int) string {
	if n == 1 {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, first+n-1)
}

func madeUpRank(i, ranks, side, rpp, hosts int, random *rand.Rand) Rank {
	const steps, elapsed, face = 2000, 100.0, 32 << 10
	compute := 62 + 4*random.Float64()
	if i == ranks/2+side/2 {
		compute = 81
	}
	waitall, fence, gather, other := 6+2*random.Float64(), 1+random.Float64()/2, 0.5, 0.25
	sum := elapsed - compute - waitall - fence - gather - other - 0.9
	late := (compute - 64) / steps
	r := Rank{Rank: i, Host: i * hosts / ranks, Process: i / rpp, Counted: true, Ended: true, Elapsed: elapsed, MPI: elapsed - compute}
	var peers []int
	if side > 1 {
		row, column, rows := i/side, i%side, ranks/side
		peers = []int{row*side + (column+1)%side, row*side + (column+side-1)%side, (row+1)%rows*side + column, (row+rows-1)%rows*side + column}
	}
	calls := func(function string, place, communicator int, n, bytes int64, time float64, late *float64) {
		r.Calls = append(r.Calls, Calls{function, place, communicator, n, bytes, time, time / float64(n) / 3, time / float64(n) * 5, late})
	}
	n := int64(len(peers))
	calls("MPI_Init", placeInit, None, 1, 0, 0.8, nil)
	calls("MPI_Irecv", placeReceive, 0, n*steps, 0, other/2, nil)
	calls("MPI_Isend", placeSend, 0, n*steps, n*steps*face, other/4, nil)
	calls("MPI_Waitall", placeWaitall, None, steps, n*steps*face, waitall, nil)
	calls("MPI_Allreduce", placeSum, 0, steps, 8*steps, sum, &late)
	calls("MPI_Gather", placeGather, 1+i/side, 20, 20<<20, gather, nil)
	calls("MPI_Put", placePut, 0, 100, 6400, other/4, nil)
	calls("MPI_Win_fence", placeFence, None, 200, 0, fence, nil)
	calls("MPI_Finalize", placeFinalize, None, 1, 0, 0.1, nil)
	for _, peer := range peers {
		a := Amount{steps, steps * face}
		r.Peers = append(r.Peers, Peer{Rank: peer, Sent: a, Received: a})
	}
	r.Peers = append(r.Peers, Peer{Rank: (i + 1) % ranks, Put: Amount{100, 6400}}, Peer{Rank: i / side * side, Collective: Amount{20, 20 << 20}})
	r.Spread = []Spread{{0, Amount{steps, 8 * steps}}}
	r.Sizes = []Size{{Messages, 32 << 10, n * steps, n * steps * face}, {OneSided, 64, 100, 6400}, {Collective, 8, steps, 8 * steps}, {Collective, 1 << 20, 20, 20 << 20}}
	return r
}
