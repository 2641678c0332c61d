// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/calls"
)

// told is what a rank of two tells: four barriers, to which it came in the mean at a time by its own host's clock, and other calls.
func told(rank int, began, entered, ahead time.Duration, barriers int) Told {
	return Told{
		Counts: calls.Counts{
			Rank: rank, Library: "MPICH", Began: began, Last: began + time.Second, Finalized: true, Inside: 300 * time.Millisecond,
			Groups: []calls.Group{{}, {ID: 1, Size: 2, Rank: rank, Name: "MPI_COMM_WORLD", ToAll: calls.Amount{Count: 2, Bytes: 16}}},
			Rows: []calls.Row{
				{Function: "MPI_Barrier", Group: 1, Calls: barriers, Time: time.Millisecond, Entered: entered},
				{Function: "MPI_Send", Group: 1, Calls: 3, Bytes: 24, Entered: entered},
				{Group: calls.NotInTable, Calls: 7},
			},
			Peers: []calls.Peer{
				{Rank: 1 - rank, To: [3]calls.Amount{calls.Messages: {Count: 3, Bytes: 24}}},
				{Rank: calls.NotInTable, From: [3]calls.Amount{calls.OneSided: {Count: 1, Bytes: 8}}},
			},
			Sizes: []calls.Size{{Way: calls.Messages, Class: 4, Amount: calls.Amount{Count: 3, Bytes: 24}}},
		},
		Places: []calls.Place{{File: "/a/solve.c", Line: 7}, {File: "/a/solve.c", Line: 9}, {}},
		Ahead:  func(time.Duration) time.Duration { return ahead },
	}
}

func TestCollect(t *testing.T) {
	p := &Profile{Hosts: []Host{{Name: "a"}, {Name: "b"}}}
	second := told(1, 105*time.Second, 14*time.Millisecond, 5*time.Second, 4) // its clock is 5 s ahead, and it comes 4 ms later
	Collect(p, []Rank{{Rank: 0}, {Rank: 1, Host: 1}}, []Told{second, told(0, 100*time.Second, 10*time.Millisecond, 0, 4)})
	require.Len(t, p.Ranks, 2)
	assert.Equal(t, []Communicator{{Name: "MPI_COMM_WORLD", Size: 2, Members: "0-1"}}, p.Communicators)
	assert.Equal(t, []Place{{File: "/a/solve.c", Line: 7}, {File: "/a/solve.c", Line: 9}}, p.Places)
	assert.Equal(t, "MPICH", p.Job.Library)
	for i, want := range []float64{-0.002, 0.002} {
		r := p.Ranks[i]
		assert.True(t, r.Counted && r.Ended)
		assert.InDelta(t, 1, r.Elapsed, 1e-9)
		assert.InDelta(t, 0.7, r.Outside(), 1e-9)
		require.Len(t, r.Calls, 3)
		require.NotNil(t, r.Calls[0].Late)
		assert.InDelta(t, want, *r.Calls[0].Late, 1e-9)
		assert.Nil(t, r.Calls[1].Late, "no collective operation")
		assert.Equal(t, Calls{Place: Other, Communicator: Other, Calls: 7}, r.Calls[2])
		assert.Equal(t, []Peer{{Rank: 1 - i, Sent: Amount{3, 24}}, {Rank: Other, Got: Amount{1, 8}}}, r.Peers)
		assert.Equal(t, []Spread{{0, Amount{2, 16}}}, r.Spread)
		assert.Equal(t, []Size{{Way: Messages, From: 8, Count: 3, Bytes: 24}}, r.Sizes)
	}
}

// Where members have not called equally often, nobody is late.
func TestCollectUnequal(t *testing.T) {
	p := &Profile{Hosts: []Host{{Name: "a"}}}
	Collect(p, []Rank{{Rank: 0}, {Rank: 1}, {Rank: 2}}, []Told{told(0, 0, 0, 0, 4), told(1, 0, 0, 0, 3)})
	assert.Nil(t, p.Ranks[0].Calls[0].Late)
	assert.False(t, p.Ranks[2].Counted)
}

// What is collected is what can be read again.
func TestCollectedIsRead(t *testing.T) {
	p := &Profile{Job: Job{Processes: 2}, Hosts: []Host{{Name: "a"}}}
	Collect(p, []Rank{{Rank: 0}, {Rank: 1, Process: 1}}, []Told{told(0, 0, 0, 0, 4), told(1, 0, time.Millisecond, 0, 4)})
	var file bytes.Buffer
	require.NoError(t, p.Write(&file))
	again, err := Read(&file)
	require.NoError(t, err)
	assert.Equal(t, p.Ranks, again.Ranks)
}
