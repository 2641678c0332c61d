// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAwaitedBy(t *testing.T) {
	on := func(ranks ...int) Awaited { return Awaited{Ranks: ranks} }
	bcast := func(root int) made { return made{name: "Bcast", comm: worldID, peer: root} }
	gather := func(root int) made { return made{name: "Gather", comm: worldID, peer: root} }
	for name, c := range map[string]struct {
		ranks []made
		want  []Awaited
	}{
		"messages":                 {[]made{receive(2, 7), send(0, 1), {}}, []Awaited{on(2), on(0), on()}},
		"any source":               {[]made{receive(AnySource, 7), {}}, []Awaited{{Any: true}, on()}},
		"no process":               {[]made{receive(NoProcess, 7), {}}, []Awaited{on(), on()}},
		"another order of members": {[]made{{name: "Recv", comm: mirrored, peer: 0}, {}, {}}, []Awaited{on(2), on(), on()}},
		"both ways":                {[]made{ring(1, 2, 5, 5), {}, {}}, []Awaited{on(1, 2), on(), on()}},
		"both ways, one peer":      {[]made{ring(1, 1, 5, 5), {}}, []Awaited{on(1), on()}},
		"a barrier":                {[]made{barrier(), {}, barrier(), receive(0, 1)}, []Awaited{on(1, 3), on(), on(1, 3), on(0)}},
		"all have come":            {[]made{barrier(), barrier()}, []Awaited{on(), on()}},
		"a large count":            {[]made{{name: "Allreduce_c", comm: worldID}, {name: "Allreduce", comm: worldID}}, []Awaited{on(), on()}},
		"a root that computes":     {[]made{bcast(1), {}, bcast(1)}, []Awaited{on(1), on(), on(1)}},
		"a root that has come":     {[]made{bcast(1), bcast(1), {}}, []Awaited{on(), on(2), on()}},
		"a root that gathers":      {[]made{gather(0), {}, gather(0)}, []Awaited{on(1), on(), on()}},
		"one that ended":           {[]made{barrier(), {name: "ended"}}, []Awaited{on(1), on()}},
		"the end of the job":       {[]made{{name: "Finalize"}, {}, {name: "Finalize"}}, []Awaited{on(1), on(), on(1)}},
		"an unknown communicator":  {[]made{{name: "Recv", comm: 99, peer: 1}, {name: "Barrier", comm: 99}}, []Awaited{on(), on()}},
		"a request":                {[]made{{name: "Waitall"}, {}}, []Awaited{on(), on()}},
	} {
		t.Run(name, func(t *testing.T) {
			got := AwaitedBy(world(t, c.ranks...))
			for i := range c.want {
				assert.Equal(t, c.want[i].Any, got[i].Any)
				assert.Equal(t, c.want[i].Ranks, got[i].Ranks, "rank %d", i)
				assert.Zero(t, got[i].More)
			}
		})
	}
}

// A rank that was killed in a collective operation does not come to it.
func TestEndedRankIsAwaited(t *testing.T) {
	ranks := world(t, barrier(), barrier())
	ranks[1].Ended = true
	assert.Equal(t, []int{1}, AwaitedBy(ranks)[0].Ranks)
}

// Of many ranks some are named and the others are counted.
func TestManyAreAwaited(t *testing.T) {
	in := make([]made, 100)
	in[3] = barrier()
	got := AwaitedBy(world(t, in...))[3]
	assert.Equal(t, []int{0, 1, 2, 4, 5, 6, 7, 8}, got.Ranks)
	assert.Equal(t, 91, got.More)
}

// Ranks in several calls wait for the peers of all of them.
func TestThreadsAwait(t *testing.T) {
	ranks := world(t, receive(2, 1), made{}, made{}, made{})
	second := ranks[0].Calls[0]
	second.Peer = 3
	ranks[0].Calls, ranks[0].Multiple = append(ranks[0].Calls, second), true
	assert.Equal(t, []int{2, 3}, AwaitedBy(ranks)[0].Ranks)
}

// Half of 4,096 ranks are in a collective operation to which the others have not come.
func BenchmarkAwaitedBy(b *testing.B) {
	const size = 4096
	ranks := make([]Rank, size)
	for i := range ranks {
		world := Communicator{ID: worldID, Size: size, Rank: i}
		ranks[i] = Rank{Rank: i, Communicators: []Communicator{world}}
		if i%2 == 0 {
			ranks[i].Calls = []Call{{Function: numberOf("Barrier"), Communicator: world}}
		}
	}
	for b.Loop() {
		assert.Equal(b, size/2-mostAwaited, AwaitedBy(ranks)[0].More)
	}
}

func numberOf(name string) int {
	return slices.IndexFunc(functions(), func(f function) bool { return f.name == name })
}
