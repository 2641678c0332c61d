// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// meetWith has Meet meet whatever the guests do, and returns what it and they end with.
func meetWith(t *testing.T, limit time.Duration, guests ...func(ctx context.Context, f *os.File) error) (joined []error, met error) {
	t.Helper()
	testsupport.NothingLeft(t)
	forMeet, forJoin := sockets(t, len(guests))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ends := make([]chan error, len(guests))
	for i, guest := range guests {
		ends[i] = make(chan error, 1)
		go func() { ends[i] <- guest(ctx, forJoin[i]) }()
	}
	met = Meet(ctx, forMeet)
	for _, end := range ends {
		joined = append(joined, <-end)
	}
	return joined, met
}

// asks is a guest that joins with these options, and closes what it has got.
func asks(o Options) func(context.Context, *os.File) error {
	return func(ctx context.Context, f *os.File) error {
		n, err := Join(ctx, f, o)
		if err == nil {
			err = n.Close()
		}
		return err
	}
}

// says is a guest that answers the welcome with this note and these files.
func says(n note, files ...*os.File) func(context.Context, *os.File) error {
	return func(ctx context.Context, f *os.File) error {
		s, err := openSocket(f)
		if err != nil {
			return err
		}
		defer s.Close()
		defer limit(ctx, s)()
		if _, _, err := s.receive(noteWelcome); err != nil {
			return err
		}
		if err := s.send(n, "", files...); err != nil {
			return err
		}
		_, got, err := s.receive(notePeer)
		got.close()
		return err
	}
}

func TestRanksMustFit(t *testing.T) {
	for name, c := range map[string]struct {
		a, b Options
		want string
	}{
		"overlap":     {Options{First: 0, Ports: 2, Total: 3}, Options{First: 1, Ports: 2, Total: 3}, "processes 0 and 1 both have rank 1"},
		"totals":      {Options{First: 0, Ports: 1, Total: 2}, Options{First: 1, Ports: 2, Total: 3}, "process 1 says that there are 3 ranks, process 0 says 2"},
		"no ports":    {Options{First: 0, Ports: 1, Total: 1}, Options{First: 1, Ports: 0, Total: 1}, "0 ports: take 1 to"},
		"beyond":      {Options{First: 0, Ports: 1, Total: 2}, Options{First: 1, Ports: 2, Total: 2}, "2 ranks from 1 on, of 2"},
		"cells":       {Options{First: 0, Ports: 1, Total: 2}, Options{First: 1, Ports: 1, Total: 2, Cells: 100}, "tracks of 100 cells: take a power of two"},
		"packet":      {Options{First: 0, Ports: 1, Total: 2}, Options{First: 1, Ports: 1, Total: 2, Packet: 10}, "packets of 10 bytes: take a multiple of 64"},
		"total":       {Options{First: 0, Ports: 1, Total: -1}, Options{First: 0, Ports: 1, Total: -1}, "the limit is"},
		"first":       {Options{First: -1, Ports: 1, Total: 2}, Options{First: 0, Ports: 1, Total: 2}, "ranks from"},
		"many ports":  {Options{First: 0, Ports: MaxPorts + 1, Total: MaxPorts + 2}, Options{First: MaxPorts + 1, Ports: 1, Total: MaxPorts + 2}, "4097 ports: take 1 to 4096"},
		"large total": {Options{First: 0, Ports: 1, Total: 1 << 40}, Options{First: 0, Ports: 1, Total: 1 << 40}, "the limit is"},
	} {
		t.Run(name, func(t *testing.T) {
			joined, met := meetWith(t, carriertest.Within, asks(c.a), asks(c.b))
			require.Error(t, met)
			for _, err := range append(joined, met) { // everybody is told
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}

// Whoever comes is told at once when another one will not come, and why.
func TestAbsent(t *testing.T) {
	good := asks(Options{First: 0, Ports: 1, Total: 2})
	t.Run("closes", func(t *testing.T) {
		joined, met := meetWith(t, carriertest.Within, good, func(_ context.Context, f *os.File) error { return f.Close() })
		assert.EqualError(t, met, "process 1 left before it joined")
		assert.EqualError(t, joined[0], "join a node: process 1 left before it joined")
	})
	t.Run("is silent", func(t *testing.T) {
		// It is the first one: the other may be late, too.
		joined, met := meetWith(t, 300*time.Millisecond, func(ctx context.Context, _ *os.File) error { <-ctx.Done(); return nil }, good)
		assert.EqualError(t, met, "process 0 did not join in time")
		assert.ErrorContains(t, joined[1], "did not")
	})
	t.Run("nobody meets", func(t *testing.T) {
		forMeet, forJoin := sockets(t, 1)
		forMeet[0].Close()
		_, err := Join(context.Background(), forJoin[0], Options{Ports: 1, Total: 1})
		assert.EqualError(t, err, "join a node: whoever started the processes has closed the socket")
	})
	t.Run("no socket", func(t *testing.T) {
		f, err := os.Open("/dev/null")
		require.NoError(t, err)
		defer f.Close()
		_, err = Join(context.Background(), f, Options{Ports: 1, Total: 1})
		assert.Error(t, err)
		assert.ErrorContains(t, Meet(context.Background(), []*os.File{f}), "meet process 0")
	})
}

// A process that has left when the others are told of it has joined.
func TestLeftAfterHello(t *testing.T) {
	s, memory, err := makeSegment(Options{Ports: 1, Total: 2}.layout(2))
	require.NoError(t, err)
	defer memory.Close()
	defer func() { require.NoError(t, s.unmap()) }()
	own, err := unix.PidfdOpen(os.Getpid(), 0)
	require.NoError(t, err)
	pidfd := os.NewFile(uintptr(own), "own")
	defer pidfd.Close()
	left := make(chan struct{})
	joined, met := meetWith(t, carriertest.Within,
		func(ctx context.Context, f *os.File) error {
			<-left
			return asks(Options{First: 0, Ports: 1, Total: 2})(ctx, f)
		},
		func(_ context.Context, f *os.File) error {
			defer close(left)
			c, err := openSocket(f)
			if err != nil {
				return err
			}
			defer c.Close()
			defer f.Close()
			if _, _, err := c.receive(noteWelcome); err != nil {
				return err
			}
			return c.send(note{Kind: noteHello, First: 1, Ports: 1, Total: 2}, "", memory, pidfd)
		})
	assert.NoError(t, met)
	assert.NoError(t, joined[0])
}

// A process that hands over something else than a sealed memfd of its own, or another
// process than itself, joins nothing.
func TestImpostors(t *testing.T) {
	good := asks(Options{First: 0, Ports: 1, Total: 2})
	hello := note{Kind: noteHello, First: 1, Ports: 1, Total: 2}
	own, err := unix.PidfdOpen(os.Getpid(), 0)
	require.NoError(t, err)
	parent, err := unix.PidfdOpen(os.Getppid(), 0)
	if err != nil { // no parent in this pid namespace
		parent, err = unix.Dup(own)
	}
	require.NoError(t, err)
	pidfd, other := os.NewFile(uintptr(own), "own"), os.NewFile(uintptr(parent), "parent")
	defer pidfd.Close()
	defer other.Close()

	unsealed := memfd(t, 1<<20, 0)
	sealed := memfd(t, 1<<20, seals)
	small := memfd(t, 100, seals)
	for name, c := range map[string]struct {
		files []*os.File
		want  string
	}{
		"not sealed": {[]*os.File{unsealed, pidfd}, "segment without seals"},
		"no memfd":   {[]*os.File{pidfd, pidfd}, "segment without seals"},
		"empty":      {[]*os.File{sealed, pidfd}, "not a segment"},
		"small":      {[]*os.File{small, pidfd}, "segment of 100 bytes"},
		"no pidfd":   {[]*os.File{sealed, sealed}, "its second descriptor is no pidfd"},
		"nothing":    {nil, "with 0 descriptors"},
		"one":        {[]*os.File{sealed}, "with 1 descriptors"},
	} {
		t.Run(name, func(t *testing.T) {
			joined, _ := meetWith(t, carriertest.Within, good, says(hello, c.files...))
			assert.ErrorContains(t, joined[0], c.want)
		})
	}
	if os.Getppid() != 0 {
		_, met := meetWith(t, carriertest.Within, good, says(hello, sealed, other))
		assert.ErrorContains(t, met, "its second descriptor is no pidfd of process")
	}
}

func memfd(t *testing.T, size int64, seal int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), "memfd")
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.Truncate(size))
	_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seal)
	require.NoError(t, err)
	return f
}

// Nobody can shrink a segment under its users.
func TestSegmentKeepsItsSize(t *testing.T) {
	s, f, err := makeSegment(Options{Ports: 1, Total: 1}.layout(1))
	require.NoError(t, err)
	defer f.Close()
	defer func() { require.NoError(t, s.unmap()) }()
	for _, size := range []int64{0, 4096, 1 << 30} {
		assert.ErrorIs(t, f.Truncate(size), unix.EPERM)
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
	assert.ErrorIs(t, err, unix.EPERM)
}

// A process that is alone has a node too.
func TestAlone(t *testing.T) {
	nodes := joined(t, Options{Ports: 3, Total: 3})
	n := nodes[0]
	first, count := n.Ranks()
	assert.Equal(t, []int{0, 3, 3}, []int{first, count, n.Size()})
	assert.Nil(t, n.port(3))
	assert.Nil(t, n.port(-1))
	assert.False(t, n.port(2).Poll(new(carrier.Event)))
}
