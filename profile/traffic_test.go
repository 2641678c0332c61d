// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exchange is four ranks on two hosts, two in a process. Each sends 100 bytes to its neighbour in the process, and rank 1 sends 300 to rank 2.
func exchange() *Profile {
	hundred := Peer{Sent: Amount{10, 100}, Received: Amount{10, 100}}
	to := func(rank int) Peer { hundred.Rank = rank; return hundred }
	p := ranksOf(
		Rank{Peers: []Peer{to(1)}}, Rank{Peers: []Peer{to(0), {Rank: 2, Sent: Amount{1, 300}}}},
		Rank{Peers: []Peer{to(3), {Rank: 1, Received: Amount{1, 300}}}}, Rank{Peers: []Peer{to(2)}},
	)
	p.Hosts = []Host{{Name: "n1"}, {Name: "n2"}}
	for i := range p.Ranks {
		p.Ranks[i].Host, p.Ranks[i].Process = i/2, i/2
	}
	return p
}

func TestMessagesCountOnce(t *testing.T) {
	p := exchange()
	assert.Equal(t, amount{41, 700}, p.traffic().total())
	p.Ranks[1].Peers, p.Ranks[1].Counted = nil, false
	assert.Equal(t, amount{41, 700}, p.traffic().total(), "the receivers tell what they have got")
	p.Ranks[0].Peers[0].Received = Amount{}
	assert.Equal(t, amount{31, 600}, p.traffic().total())
}

func TestOneSidedGoesToWhoReads(t *testing.T) {
	p := ranksOf(Rank{Peers: []Peer{{Rank: 1, Put: Amount{1, 5}, Got: Amount{2, 7}}}}, Rank{})
	_, of := p.nodes()
	assert.Equal(t, []amount{{}, {1, 5}, {2, 7}, {}}, p.traffic().matrix(of).cells[OneSided])
}

func TestInside(t *testing.T) {
	p := exchange()
	s := p.summarize()
	assert.InDelta(t, 400.0/700, s.insideNow(), 1e-15)
	assert.Equal(t, amount{1, 300}, s.betweenHosts)
	assert.Equal(t, []choice{{1, 0, false}, {2, 4.0 / 7, true}}, s.choices)

	p.Hosts = p.Hosts[:1]
	for i := range p.Ranks {
		p.Ranks[i].Host = 0
	}
	assert.Equal(t, []choice{{1, 0, false}, {2, 4.0 / 7, true}, {4, 1, false}}, p.summarize().choices)
	p.Ranks[2].Process, p.Ranks[3].Process = 2, 3
	assert.Equal(t, []choice{{1, 0, false}, {2, 2.0 / 7, true}, {4, 1, false}}, p.summarize().choices, "the present processes count as they are")
}

// Ranks that are dealt out to hosts in turn are neighbours in a process by their order on the host.
func TestBlocksAreOfHosts(t *testing.T) {
	p := exchange()
	for i := range p.Ranks {
		p.Ranks[i].Host = i % 2
	}
	assert.Equal(t, []int{0, 1, 0, 1}, p.byBlocks(2).of)
	assert.Equal(t, 4, p.byBlocks(1).n)
	p.Ranks[2].Group = 1
	assert.Equal(t, []int{0, 1, 2, 1}, p.byBlocks(2).of, "a spawned group has processes of its own")
}

// unspread replaces what goes to all alike by what goes to each.
func unspread(p *Profile) {
	for i := range p.Ranks {
		for _, all := range p.Ranks[i].Spread {
			for _, member := range membersOf(p.Communicators[all.Communicator].Members) {
				if member != i {
					p.Ranks[i].Peers = append(p.Ranks[i].Peers, Peer{Rank: member, Collective: all.Amount})
				}
			}
		}
		p.Ranks[i].Spread = nil
	}
}

// What goes to all alike counts as if it stood there for each.
func TestSpreadIsToEach(t *testing.T) {
	together, apart := madeUp(64, 4, 4), madeUp(64, 4, 4)
	for _, p := range []*Profile{together, apart} {
		p.Ranks[5].Spread = append(p.Ranks[5].Spread, Spread{1, Amount{3, 1000}}, Spread{2, Amount{3, 500}}) // a member of the first row, and none of the second
	}
	unspread(apart)
	x, y := together.summarize(), apart.summarize()
	assert.Equal(t, x.total, y.total)
	assert.InDeltaSlice(t, shares(y.choices), shares(x.choices), 1e-12)
	for _, group := range []groups{together.byProcess(), together.byHost(), second(together.nodes())} {
		a, b := x.traffic.matrix(group), y.traffic.matrix(group)
		for way := range a.cells {
			assert.Equal(t, b.cells[way], a.cells[way], way)
		}
	}
}

// What goes to members that are not known is in no matrix.
func TestUnknownMembers(t *testing.T) {
	p := ranksOf(Rank{Spread: []Spread{{0, Amount{1, 100}}}}, Rank{}, Rank{})
	for members, want := range map[string][2]amount{"0-2": {{2, 200}, {}}, "0,2": {{1, 100}, {1, 100}}, "1-2": {{2, 200}, {}}, "": {{}, {2, 200}}} {
		p.Communicators[0].Members = members
		assert.Equal(t, want, [2]amount{p.traffic().total(), p.traffic().unknown}, members)
	}
	p.Communicators[0] = Communicator{"MPI_COMM_SELF", 1, "0-2"}
	assert.Equal(t, amount{}, p.traffic().total(), "each rank has one of its own")
	assert.Equal(t, amount{}, p.traffic().unknown)
}

func second[A, B any](_ A, b B) B { return b }

func shares(choices []choice) (all []float64) {
	for _, c := range choices {
		all = append(all, c.inside)
	}
	return all
}

// The matrix has all that goes anywhere, whatever its rows are.
func TestMatrixIsWhole(t *testing.T) {
	for _, ranks := range []int{4, 64, 4096} {
		p := madeUp(ranks, 4, 4)
		nodes, of := p.nodes()
		assert.LessOrEqual(t, len(nodes), maxNodes)
		tr := p.traffic()
		var sum, diagonal amount
		for _, cells := range tr.matrix(of).cells {
			for i, c := range cells {
				sum.add(c.count, c.bytes)
				if i/of.n == i%of.n {
					diagonal.add(c.count, c.bytes)
				}
			}
		}
		assert.Equal(t, tr.total(), sum)
		assert.Equal(t, tr.inside(of), diagonal)
		seen := map[int]bool{}
		for _, n := range nodes {
			for _, rank := range n.ranks {
				assert.False(t, seen[rank])
				seen[rank] = true
				assert.Equal(t, n.host, p.hostOf(rank))
			}
		}
		assert.Len(t, seen, ranks)
	}
}

func TestNodes(t *testing.T) {
	for _, c := range []struct{ ranks, rpp, nodes int }{{512, 4, 512}, {513, 1, 257}, {516, 4, 129}, {4096, 8, 512}, {4096, 1, 512}, {4096, 4096, 1}} {
		p := madeUp(c.ranks, c.rpp, 1)
		nodes, _ := p.nodes()
		assert.Len(t, nodes, c.nodes, "%+v", c)
	}
	p := exchange()
	p.Ranks[1].Process, p.Ranks[2].Process, p.Ranks[1].Host, p.Ranks[2].Host = 1, 0, 1, 0
	nodes, _ := p.nodes()
	order := []int{nodes[0].ranks[0], nodes[1].ranks[0], nodes[2].ranks[0], nodes[3].ranks[0]}
	assert.Equal(t, []int{0, 2, 1, 3}, order, "ranks of a process are neighbours")
}

// The numbers of a layer come back as exactly as the page says them, also where one comes many times.
func TestLayer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cells := []amount{{0, 0}, {1, 0}, {2, 0}, {999, 0}, {math.Pow(2, 62), 0}}
	for range 1000 {
		cells = append(cells, amount{math.Floor(math.Exp(40 * random.Float64())), 0})
	}
	for _, times := range []int{2, 1024, 1025, 1026, 5000} {
		cells = append(cells, slices.Repeat([]amount{{float64(times), 0}}, times)...)
	}
	raw, err := base64.StdEncoding.DecodeString(layer(cells, func(a amount) float64 { return a.count }))
	require.NoError(t, err)
	assert.Less(t, len(raw), 2*(1000+30), "what comes many times takes little")
	var back []float64
	for ; len(raw) > 0; raw = raw[2:] {
		code := binary.LittleEndian.Uint16(raw)
		if code < 0xfc00 {
			back = append(back, math.Exp2(float64(code)/1024)-1)
			continue
		}
		back = append(back, slices.Repeat(back[len(back)-1:], int(code-0xfc00)+1)...)
	}
	require.Len(t, back, len(cells))
	for i, c := range cells {
		assert.InDelta(t, c.count, back[i], 0.00035*(1+c.count))
		if c.count < 1000 {
			assert.InDelta(t, c.count, math.Round(back[i]), exact)
		}
	}
	assert.Empty(t, layer(nil, nil))
}
