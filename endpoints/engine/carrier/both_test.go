// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stub is the port of a process of one rank, which reaches one other, and has something at each
// poll if it is busy.
type stub struct {
	Port
	reaches int
	bell    *Bell
	busy    bool
	polls   int
}

func (p *stub) Gone(rank int) bool { return rank == p.reaches }
func (p *stub) Bell() *Bell        { return p.bell }
func (p *stub) Poll(*Event) bool   { p.polls++; return p.busy }
func (p *stub) Doze() uint32       { return p.bell.Doze() }
func (p *stub) Send(int, uint32, int32, []byte, uint64) (Outcome, error) {
	return Outcome(10 + p.reaches), nil
}

// A stubCarrier has such a port.
type stubCarrier struct {
	port   stub
	size   int
	closed int
}

func (s *stubCarrier) Size() int          { return s.size }
func (s *stubCarrier) Ranks() (int, int)  { return 0, 1 }
func (s *stubCarrier) Near() int          { return 1 + s.port.reaches }
func (s *stubCarrier) Reaches(r int) bool { return r == s.port.reaches }
func (s *stubCarrier) Port(int) Port      { return &s.port }
func (s *stubCarrier) Gone(rank int) error {
	return &GoneError{Rank: rank, Why: "says who reaches " + string(rune('0'+s.port.reaches))}
}
func (s *stubCarrier) Close() error { s.closed++; return nil }

// two returns carriers that reach ranks 1 and 2.
func two() (near, far *stubCarrier) {
	bell := new(Bell)
	return &stubCarrier{size: 3, port: stub{reaches: 1, bell: bell}}, &stubCarrier{size: 3, port: stub{reaches: 2, bell: bell}}
}

// What goes to a rank goes by the carrier that reaches it.
func TestBoth(t *testing.T) {
	near, far := two()
	b, err := Both(near, far)
	require.NoError(t, err)
	assert.Equal(t, []any{3, 2}, []any{b.Size(), b.Near()})
	assert.False(t, b.Reaches(0))
	p := b.Port(0)
	assert.Nil(t, b.Port(1))
	for rank := 1; rank <= 2; rank++ {
		assert.True(t, b.Reaches(rank))
		assert.True(t, p.Gone(rank))
		require.EqualError(t, b.Gone(rank), "rank "+string(rune('0'+rank))+" is gone: says who reaches "+string(rune('0'+rank)))
		how, err := p.Send(rank, 0, 0, nil, 0)
		require.NoError(t, err)
		assert.EqualValues(t, 10+rank, how)
	}
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Close(), os.ErrClosed)
	assert.Equal(t, []int{1, 1}, []int{near.closed, far.closed})
}

// Neither keeps the other waiting, however much comes by it. The far one is looked into rarely
// while nothing comes by it, but before each sleep.
func TestBothHaveTurns(t *testing.T) {
	polls := func(nearBusy, farBusy bool, doze bool) (near, far int) {
		n, f := two()
		n.port.busy, f.port.busy = nearBusy, farBusy
		b, err := Both(n, f)
		require.NoError(t, err)
		p := b.Port(0)
		for range 1600 {
			if doze {
				p.Doze()
			}
			p.Poll(new(Event))
		}
		return n.port.polls, f.port.polls
	}
	near, far := polls(true, true, false)
	assert.Equal(t, []int{1500, 100}, []int{near, far})
	near, far = polls(false, true, false)
	assert.Equal(t, []int{1500, 1585}, []int{near, far}, "the 16th poll finds that something comes")
	near, far = polls(false, false, false)
	assert.Equal(t, []int{1600, 100}, []int{near, far})
	near, far = polls(false, false, true)
	assert.Equal(t, []int{1600, 1600}, []int{near, far})
}

// Two carriers that do not belong together are refused.
func TestBothMustFit(t *testing.T) {
	near, far := two()
	far.size = 4
	_, err := Both(near, far)
	require.EqualError(t, err, "two carriers of one process: ranks 0+1 of 3, and 0+1 of 4")
	near, far = two()
	far.port.bell = new(Bell)
	_, err = Both(near, far)
	require.EqualError(t, err, "two carriers of one process: rank 0 has two bells")
}

// A key finds what it is of, and nothing after that.
func TestSlots(t *testing.T) {
	var s Slots[string]
	a, value := s.Take()
	*value = "a"
	b, _ := s.Take()
	assert.Equal(t, "a", *s.Find(a))
	s.Drop(a)
	assert.Nil(t, s.Find(a))
	c, value := s.Take()
	assert.Empty(t, *value)
	assert.Equal(t, uint32(a), uint32(c), "the same place")
	assert.NotEqual(t, a, c)
	assert.Nil(t, s.Find(a))
	assert.Nil(t, s.Find(1<<40))
	var used []uint64
	s.Used(func(key uint64, _ *string) { used = append(used, key) })
	assert.ElementsMatch(t, []uint64{b, c}, used)
}
