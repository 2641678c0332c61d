// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"encoding/binary"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newBoard makes a board that goes with the test.
func newBoard(t testing.TB, ranks ...int) *Board {
	t.Helper()
	var locals []LocalRank
	for _, rank := range ranks {
		locals = append(locals, LocalRank{Rank: rank})
	}
	b, err := NewBoard(locals, false)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return b
}

// enter notes a call as calls/front/calls.c does.
func (b *Board) enter(local, note, function, thread int, handle uint64, peer, tag int32) {
	n := noteOf(b.rank(local), note)
	binary.NativeEndian.PutUint64(n[16:], handle)
	binary.NativeEndian.PutUint32(n[24:], uint32(peer))
	binary.NativeEndian.PutUint32(n[28:], uint32(tag))
	binary.NativeEndian.PutUint32(n[40:], uint32(function))
	binary.NativeEndian.PutUint32(n[44:], uint32(thread))
	binary.NativeEndian.PutUint64(n, binary.NativeEndian.Uint64(n)+1)
}

func TestBoard(t *testing.T) {
	b := newBoard(t, 4, 9)
	assert.Equal(t, []int{4, 9}, []int{b.Read()[0].Rank, b.Read()[1].Rank})
	assert.False(t, b.Read()[1].Known)

	rank := b.rank(1)
	binary.NativeEndian.PutUint32(rank[4:], abiMPICH)
	c := rank[headerBytes+notesPerRank*noteBytes:]
	binary.NativeEndian.PutUint64(c, 0x44000000)
	binary.NativeEndian.PutUint64(c[8:], worldID)
	binary.NativeEndian.PutUint32(c[16:], 2)
	binary.NativeEndian.PutUint32(c[20:], 1)
	copy(c[24:], "MPI_COMM_WORLD")
	receive := 0
	for functions()[receive].name != "Recv" {
		receive++
	}
	b.enter(1, 3, receive, os.Getpid(), 0xffff_ffff_4400_0000, -2, -1)
	now := b.Read()[1]
	assert.True(t, now.Known)
	require.Len(t, now.Calls, 1)
	assert.Equal(t, "MPI_Recv(source any, tag any, MPI_COMM_WORLD)", now.Calls[0].String())
	assert.Equal(t, Communicator{worldID, 2, 1, "MPI_COMM_WORLD"}, now.Calls[0].Communicator)
	assert.Equal(t, "in MPI_Recv(source any, tag any, MPI_COMM_WORLD)", now.Text())

	n := noteOf(rank, 3)
	binary.NativeEndian.PutUint64(n, 2)
	assert.Equal(t, "outside of MPI", b.Read()[1].Text())
}

// A call is settled if its thread sleeps or runs, and not if it was stopped or is gone.
func TestSettled(t *testing.T) {
	b := newBoard(t, 0, 1)
	b.enter(0, 0, 0, os.Getpid(), 0, 0, 0)
	b.enter(1, 0, 0, 1<<30, 0, 0, 0)
	b.read()
	for _, local := range []int{0, 1} {
		b.seen[local].since[0] = time.Now().Add(-time.Minute)
	}
	ranks := b.Read()
	assert.GreaterOrEqual(t, ranks[0].Calls[0].Age, time.Minute)
	assert.False(t, ranks[1].Calls[0].Settled, "there is no such thread")
	sleeper := exec.Command("sleep", "60")
	require.NoError(t, sleeper.Start())
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	require.Eventually(t, func() bool { return timeOf(sleeper.Process.Pid).state == "S" }, time.Minute, time.Millisecond)
	assert.Empty(t, timeOf(1<<30).state)
}

// Whatever stands on a board, reading it and explaining it end.
func FuzzBoard(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := NewBoard([]LocalRank{{Rank: 0}, {Rank: 1}}, false)
		require.NoError(t, err)
		defer b.Close()
		copy(b.bytes[headerBytes:], content)
		ranks := b.read()
		for i := range ranks {
			for k := range ranks[i].Calls {
				ranks[i].Calls[k].Settled = true
			}
		}
		Explain(ranks)
	})
}
