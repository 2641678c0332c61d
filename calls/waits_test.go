// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world makes ranks of a world that are in calls, by name and arguments: (communicator, peer, tag, from, tag of what is received). All
// calls are settled. An empty name: outside of MPI; "ended": ended.
func world(t *testing.T, in ...made) (ranks []Rank) {
	t.Helper()
	for i, m := range in {
		r := Rank{Rank: i, Known: true, Quiet: time.Minute}
		for id, members := range communicators(len(in)) {
			if at := slices.Index(members, i); at >= 0 {
				r.Communicators = append(r.Communicators, Communicator{ID: id, Size: len(members), Rank: at, Name: map[uint64]string{worldID: "MPI_COMM_WORLD"}[id]})
			}
		}
		switch m.name {
		case "":
		case "ended":
			r.Ended = true
		default:
			number := slices.IndexFunc(functions(), func(f function) bool { return f.name == m.name })
			require.GreaterOrEqual(t, number, 0, m.name)
			call := Call{Function: number, Peer: m.peer, Tag: m.tag, From: m.from, FromTag: m.fromTag, Age: time.Minute, Settled: true}
			if at := slices.IndexFunc(r.Communicators, func(c Communicator) bool { return c.ID == m.comm }); at >= 0 {
				call.Communicator = r.Communicators[at]
			}
			r.Calls = []Call{call}
		}
		ranks = append(ranks, r)
	}
	return ranks
}

type made struct {
	name          string
	comm          uint64
	peer, tag     int
	from, fromTag int
}

// communicators are those of a world: all ranks, all as a twin, and all in the reverse order.
func communicators(size int) map[uint64][]int {
	all, reversed := []int{}, []int{}
	for i := range size {
		all, reversed = append(all, i), append([]int{i}, reversed...)
	}
	return map[uint64][]int{worldID: all, twin: all, mirrored: reversed}
}

const (
	twin     = 7
	mirrored = 8
)

func receive(source, tag int) made { return made{name: "Recv", comm: worldID, peer: source, tag: tag} }
func send(to, tag int) made        { return made{name: "Send", comm: worldID, peer: to, tag: tag} }
func barrier() made                { return made{name: "Barrier", comm: worldID} }

func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		ranks []made
		want  []string
	}{
		"nobody waits": {[]made{{}, {}}, nil},
		"two receive from each other": {[]made{receive(1, 7), receive(0, 8)},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD), rank 1 waits in MPI_Recv(source 0, tag 8, MPI_COMM_WORLD)"}},
		"a receive that a send serves": {[]made{receive(1, 7), send(0, 7)}, []string{possible}},
		"a receive of any tag":         {[]made{receive(1, AnyTag), send(0, 7)}, []string{possible}},
		"another tag": {[]made{receive(1, 7), send(0, 8)},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD), rank 1 waits in MPI_Send(to 0, tag 8, MPI_COMM_WORLD)"}},
		"another communicator": {[]made{receive(1, 7), {name: "Send", comm: twin, tag: 7}},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD), rank 1 waits in MPI_Send(to 0, tag 7, a communicator of 2 ranks)"}},
		"ranks of another communicator":    {[]made{{name: "Recv", comm: mirrored, peer: 0, tag: 7}, receive(2, 7), {}}, nil},
		"a rank that receives from itself": {[]made{{}, receive(1, 7)}, []string{"deadlock: rank 1 waits in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)"}},
		"a sender that computes":           {[]made{receive(1, 7), {}}, nil},
		"a sender that has ended": {[]made{receive(1, 7), {name: "ended"}},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD), and rank 1 has ended"}},
		"any source, of which one computes": {[]made{receive(AnySource, 7), receive(0, 1), {}}, nil},
		"any source, and all wait": {[]made{receive(AnySource, 7), receive(0, 1), receive(0, 2)},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source any, tag 7, MPI_COMM_WORLD), rank 1 waits in MPI_Recv(source 0, tag 1, MPI_COMM_WORLD); rank 2 cannot go on because of that"}},
		"any source, and one sends": {[]made{receive(AnySource, 7), send(0, 7), receive(0, 2)}, []string{possible}},
		"no process":                {[]made{receive(NoProcess, 7), {}}, nil},
		"a collective, one outside": {[]made{barrier(), barrier(), {}},
			[]string{"ranks 0-1 wait in MPI_Barrier(MPI_COMM_WORLD); not there: rank 2 (outside of MPI)"}},
		"a collective, all there": {[]made{barrier(), barrier()}, []string{possible}},
		"different collectives": {[]made{barrier(), {name: "Allreduce", comm: worldID}},
			[]string{"deadlock: rank 0 waits in MPI_Barrier(MPI_COMM_WORLD), rank 1 waits in MPI_Allreduce(MPI_COMM_WORLD)"}},
		"the same collective with a large count": {[]made{{name: "Allreduce_c", comm: worldID}, {name: "Allreduce", comm: worldID}}, []string{possible}},
		"different roots": {[]made{{name: "Bcast", comm: worldID, peer: 1}, {name: "Bcast", comm: worldID, peer: 0}},
			[]string{"deadlock: rank 0 waits in MPI_Bcast(root 1, MPI_COMM_WORLD), rank 1 waits in MPI_Bcast(root 0, MPI_COMM_WORLD)"}},
		"a root that computes": {[]made{{name: "Bcast", comm: worldID, peer: 1}, {}},
			[]string{"rank 0 waits in MPI_Bcast(root 1, MPI_COMM_WORLD); not there: rank 1 (outside of MPI)"}},
		"a root does not need the others": {[]made{{name: "Bcast", comm: worldID, peer: 0}, receive(0, 1), {}},
			[]string{"rank 0 waits in MPI_Bcast(root 0, MPI_COMM_WORLD); not there: rank 1 (in MPI_Recv(source 0, tag 1, MPI_COMM_WORLD)), rank 2 (outside of MPI)"}},
		"a gather needs all": {[]made{{name: "Gather", comm: worldID, peer: 0}, receive(0, 1), {}},
			[]string{"deadlock: rank 0 waits in MPI_Gather(root 0, MPI_COMM_WORLD), rank 1 waits in MPI_Recv(source 0, tag 1, MPI_COMM_WORLD)"}},
		"a chain that ends in one that computes": {[]made{receive(1, 1), receive(2, 1), receive(3, 1), {}}, nil},
		"a chain that ends in a cycle": {[]made{receive(1, 1), receive(2, 1), receive(1, 2)},
			[]string{"deadlock: rank 1 waits in MPI_Recv(source 2, tag 1, MPI_COMM_WORLD), rank 2 waits in MPI_Recv(source 1, tag 2, MPI_COMM_WORLD); rank 0 cannot go on because of that"}},
		"sends to each other": {[]made{send(1, 1), send(0, 1)},
			[]string{"deadlock: rank 0 waits in MPI_Send(to 1, tag 1, MPI_COMM_WORLD), rank 1 waits in MPI_Send(to 0, tag 1, MPI_COMM_WORLD)"}},
		"a ring of MPI_Sendrecv": {[]made{ring(1, 1, 5, 5), ring(0, 0, 5, 5)}, []string{possible}},
		"a ring of wrong tags": {[]made{ring(1, 1, 5, 6), ring(0, 0, 5, 6)},
			[]string{"deadlock: rank 0 waits in MPI_Sendrecv(to 1, tag 5, source 1, tag 6, MPI_COMM_WORLD), rank 1 waits in MPI_Sendrecv(to 0, tag 5, source 0, tag 6, MPI_COMM_WORLD)"}},
		"half of MPI_Sendrecv may be done": {[]made{ring(1, 2, 5, 5), receive(2, 1), {}}, nil},
		"a wait that names nobody":         {[]made{receive(1, 1), {name: "Waitall"}}, []string{possible}},
		"a window":                         {[]made{receive(1, 1), {name: "Win_lock", peer: 0}}, []string{possible}},
		"a rank that finalizes": {[]made{receive(1, 1), {name: "Finalize"}},
			[]string{"deadlock: rank 0 waits in MPI_Recv(source 1, tag 1, MPI_COMM_WORLD), rank 1 waits in MPI_Finalize()"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, Explain(world(t, c.ranks...))) })
	}
}

const possible = "possible deadlock: every rank waits in an MPI call, but the calls do not say for whom all of them wait"

func ring(to, from, tag, fromTag int) made {
	return made{"Sendrecv", worldID, to, tag, from, fromTag}
}

// What is not known for certain proves nothing.
func TestNothingIsProven(t *testing.T) {
	for name, change := range map[string]func(*Rank){
		"the thread got no CPU":    func(r *Rank) { r.Calls[0].Settled = false },
		"several threads may call": func(r *Rank) { r.Multiple = true },
		"several threads are in":   func(r *Rank) { r.Calls = append(r.Calls, r.Calls[0]) },
		"an unknown communicator":  func(r *Rank) { r.Calls[0].Communicator = Communicator{} },
		"a peer that is not known": func(r *Rank) { r.Communicators = nil },
		"a function of no name":    func(r *Rank) { r.Calls[0].Function = len(functions()) },
		"a function below all":     func(r *Rank) { r.Calls[0].Function = -1 },
		"a peer outside":           func(r *Rank) { r.Calls[0].Peer = 99 },
	} {
		for _, at := range []int{0, 1} {
			ranks := world(t, receive(1, 7), receive(0, 8))
			change(&ranks[at])
			for _, line := range Explain(ranks) {
				assert.NotContains(t, line, "deadlock: rank", "%s at rank %d", name, at)
			}
		}
	}
}

// Each call has a text, and functions.h is read as the compiler reads it.
func TestFunctions(t *testing.T) {
	assert.Equal(t, function{name: "Send", kind: waitsForReceiver, mayWait: true, hasComm: true, hasPeer: true}, functions()[0])
	assert.Equal(t, "Send_c", functions()[1].name)
	assert.Equal(t, function{name: "Comm_create_from_group", kind: waitsForAll, mayWait: true}, functions()[functionNumber("Comm_create_from_group")])
	assert.Equal(t, function{name: "Win_test", kind: waitsForSomething}, functions()[len(functions())-1])
	kinds := []waitKind{waitsForReceiver, waitsForSender, waitsForBoth, waitsForAll, waitsForRoot, rootWaitsForAll, waitsForSome, waitsForJob, waitsForSomething}
	for number, f := range functions() {
		assert.Contains(t, kinds, f.kind, f.name)
		assert.Contains(t, Call{Function: number}.String(), "MPI_"+f.name+"(")
	}
	for name, want := range map[string][3]bool{ // collective, synchronising, may wait
		"MPI_Allreduce_c": {true, true, true}, "MPI_Bcast": {true, false, true}, "MPI_Alltoallv": {true, false, true}, "MPI_Recv": {false, false, true},
		"MPI_Win_fence": {false, false, true}, "MPI_Isend": {}, "MPI_Comm_rank": {}, "Recv": {}, "MPI_Unknown": {}, "": {},
	} {
		assert.Equal(t, want, [3]bool{IsCollective(name), IsSynchronising(name), MayWait(name)}, name)
	}
}
