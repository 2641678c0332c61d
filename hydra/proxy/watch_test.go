// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/pmi"
)

// watchedProxy is a proxy of three ranks, of which two are threads of this process and one is this process. mpiexec is what it returns.
func watchedProxy(t *testing.T) (*proxy, *channel.Trunk) {
	t.Helper()
	r, w := io.Pipe()
	trunk := channel.New(bytes.NewReader(nil), w)
	t.Cleanup(trunk.Close)
	board, err := calls.NewBoard([]calls.LocalRank{{Rank: 4}, {Rank: 5}, {Rank: 6}}, false)
	require.NoError(t, err)
	t.Cleanup(board.Close)
	sets := []plan.RankSet{{Ranks: []int{4, 5}}, {Ranks: []int{6}, Local: 2}}
	p := &proxy{conn: trunk.Conn(0), board: board, log: slog.New(slog.DiscardHandler), host: plan.Host{Sets: sets}}
	p.server = pmi.NewServer(pmi.World{Size: 7}, p.host.LocalRanks(), nil, nil, nil)
	for i, set := range sets {
		proc := newProcess(set, i)
		proc.pid = os.Getpid()
		p.processes = append(p.processes, proc)
	}
	return p, channel.New(r, discard{})
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

// samplesFor asks a proxy for samples.
func samplesFor(t *testing.T, p *proxy, mpiexec *channel.Trunk, question int) (s channel.Samples) {
	t.Helper()
	p.handle(channel.Frame{Kind: channel.Watch, Index: question})
	frame, err := mpiexec.Receive()
	require.NoError(t, err)
	assert.Equal(t, channel.Watched, frame.Kind)
	assert.Equal(t, question, frame.Index)
	require.NoError(t, frame.Value(&s))
	return s
}

// The first question begins the sampling and question 0 ends it.
func TestWatch(t *testing.T) {
	p, mpiexec := watchedProxy(t)
	first := samplesFor(t, p, mpiexec, 7)
	assert.Len(t, first.Doing, 3)
	assert.Len(t, first.Whereabouts, 1, "one process, for this test")
	require.Len(t, first.Processes, 2)
	assert.Positive(t, first.Processes[0].Resident)
	assert.Equal(t, []int{4, 5}, first.Processes[0].Ranks)
	require.Len(t, first.Ranks, 3)
	assert.False(t, first.Ranks[0].Used, "a rank that has made no call yet has no thread")
	assert.True(t, first.Ranks[2].Used)

	sampler := p.watch.sampler
	require.Eventually(t, func() bool { return samplesFor(t, p, mpiexec, 8).Taken > 2 }, drainGrace*10, calls.SampleEvery)
	p.handle(channel.Frame{Kind: channel.Watch})
	assert.Nil(t, p.watch)
	before, _ := sampler.Counts()
	samplesFor(t, p, mpiexec, 9)
	assert.NotSame(t, sampler, p.watch.sampler, "it begins anew")
	time.Sleep(3 * calls.SampleEvery)
	after, _ := sampler.Counts()
	assert.Equal(t, before, after)
	p.handle(channel.Frame{Kind: channel.Watch})
	p.handle(channel.Frame{Kind: channel.Watch}) // nobody watches
}

// A proxy without a board, and one whose ranks are over, tell what they know.
func TestWatchWithoutBoard(t *testing.T) {
	p, mpiexec := watchedProxy(t)
	p.board = nil
	s := samplesFor(t, p, mpiexec, 1)
	assert.Equal(t, []int{4, 5, 6}, s.Whereabouts[0].Ranks)
	assert.Zero(t, s.Taken)
	require.Len(t, s.Ranks, 3)
	assert.Equal(t, []bool{false, false, true}, []bool{s.Ranks[0].Used, s.Ranks[1].Used, s.Ranks[2].Used}, "of threads it is not known whose they are")
	p.handle(channel.Frame{Kind: channel.Watch})
}

func TestWatchOfEndedRanks(t *testing.T) {
	p, mpiexec := watchedProxy(t)
	for _, proc := range p.processes {
		close(proc.ended)
	}
	s := samplesFor(t, p, mpiexec, 1)
	assert.Equal(t, channel.Ended, s.Whereabouts[0].Phase)
	assert.True(t, s.Doing[0].Ended)
	assert.Zero(t, s.Processes[0].Resident)
	assert.False(t, s.Ranks[2].Used)
	p.handle(channel.Frame{Kind: channel.Watch})
}
