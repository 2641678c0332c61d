// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/whereabouts"
	"github.com/tpsl/tpsl/hydra/wire"
)

// aHost is a host with ranks, one in each process.
func aHost(id, group int, name string, ranks ...int) plan.Host {
	h := plan.Host{ID: id, Group: group, Name: name, Ranks: len(ranks), Programs: []plan.Program{{Args: []string{"/bin/solver"}}}}
	for _, rank := range ranks {
		h.Sets = append(h.Sets, plan.RankSet{Ranks: []int{rank}})
	}
	return h
}

// inWorld is MPI_COMM_WORLD of two ranks, as a rank knows it.
func inWorld(rank int) calls.Communicator {
	return calls.Communicator{ID: 1, Size: 2, Rank: rank, Name: "MPI_COMM_WORLD"}
}

// receives is a rank in MPI_Recv, whose number in functions.h is that of its text.
func receives(rank, source int) calls.Rank {
	receive := 0
	for (calls.Call{Function: receive}).String() != "MPI_Recv(source 0, tag 0, a communicator that is not known)" {
		receive++
	}
	return calls.Rank{Rank: rank, Known: true, Quiet: 3 * time.Second, Communicators: []calls.Communicator{inWorld(rank)},
		Calls: []calls.Call{{Function: receive, Peer: source, Tag: 7, Communicator: inWorld(rank)}}}
}

// told is what a host with one rank tells.
func told(h plan.Host, phase channel.Phase, doing calls.Rank) toldHost {
	rank := h.Sets[0].Ranks[0]
	doing.Rank = rank
	return toldHost{host: h, samples: &channel.Samples{
		Location:  channel.Location{Whereabouts: []channel.Whereabouts{{Ranks: []int{rank}, PID: 100 + rank, Phase: phase}}, Doing: []calls.Rank{doing}},
		At:        time.Minute,
		Taken:     50,
		Ranks:     []channel.RankSamples{{Rank: rank, InCall: 40, Used: true, Usage: channel.Usage{CPU: time.Second, Voluntary: 1, Involuntary: 2, Faults: 3}}},
		Processes: []channel.ProcessUsage{{PID: 100 + rank, Ranks: []int{rank}, Resident: 4096}},
	}}
}

// What hosts tell is put together, and a rank waits for one of another host.
func TestDescribe(t *testing.T) {
	outside := calls.Rank{Known: true, Communicators: []calls.Communicator{inWorld(1)}}
	hosts := describe([]toldHost{told(aHost(0, 0, "a", 0), channel.OutOfBarrier, receives(0, 1)), told(aHost(1, 0, "b", 1), channel.OutOfBarrier, outside)})
	require.Len(t, hosts, 2)
	assert.Equal(t, whereabouts.Host{Proxy: 0, Name: "a", At: time.Minute, Samples: 50, Processes: []whereabouts.Process{{PID: 100, Resident: 4096, Ranks: []whereabouts.Rank{{
		Rank: 0, PID: 100, State: "in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)", Since: 3 * time.Second, InMPI: true, For: []int{1}, InCall: 40, Used: true,
		CPU: time.Second, Voluntary: 1, Involuntary: 2, Faults: 3,
	}}}}}, hosts[0])
	assert.Equal(t, "outside of MPI", hosts[1].Processes[0].Ranks[0].State)
	assert.False(t, hosts[1].Processes[0].Ranks[0].InMPI)
}

// The ranks of a spawned world have the same numbers, and are others.
func TestDescribeWorlds(t *testing.T) {
	hosts := describe([]toldHost{told(aHost(0, 0, "a", 0), channel.OutOfBarrier, receives(0, 1)), told(aHost(1, 0, "a", 1), channel.OutOfBarrier, receives(1, 0)),
		told(aHost(2, 1, "a", 0), channel.NoSession, calls.Rank{})})
	assert.Equal(t, []int{1}, hosts[0].Processes[0].Ranks[0].For)
	assert.Equal(t, []int{0}, hosts[1].Processes[0].Ranks[0].For)
	spawned := hosts[2].Processes[0].Ranks[0]
	assert.Empty(t, spawned.For)
	assert.Equal(t, phaseTexts[channel.NoSession], spawned.State)
	assert.Equal(t, 1, hosts[2].Group)
}

// Nothing is made up of hosts that do not answer, have not begun or are done.
func TestDescribeWhatIsNotKnown(t *testing.T) {
	first := func(hosts []whereabouts.Host) whereabouts.Rank { return hosts[0].Processes[0].Ranks[0] }

	silent := told(aHost(0, 0, "a", 0), channel.OutOfBarrier, receives(0, 1))
	silent.silent = true
	hosts := describe([]toldHost{silent, told(aHost(1, 0, "b", 1), channel.OutOfBarrier, receives(1, 0))})
	assert.True(t, hosts[0].Silent)
	assert.Equal(t, notAnswered, first(hosts).State)
	assert.False(t, first(hosts).InMPI)
	assert.Empty(t, first(hosts).For)

	done := told(aHost(0, 0, "a", 0), channel.OutOfBarrier, receives(0, 1))
	done.done = true
	hosts = describe([]toldHost{done, told(aHost(1, 0, "b", 1), channel.OutOfBarrier, receives(1, 0))})
	assert.True(t, first(hosts).Ended)
	assert.Empty(t, first(hosts).For)
	assert.Equal(t, "had ended", first(hosts).State)

	hosts = describe([]toldHost{{host: aHost(0, 0, "a", 0, 1)}})
	assert.Len(t, hosts[0].Processes[0].Ranks, 2)
	assert.Equal(t, "not started yet", first(hosts).State)
	assert.Zero(t, first(hosts).PID)

	strange := told(aHost(0, 0, "a", 0), channel.OutOfBarrier, receives(0, 1))
	strange.samples.Whereabouts[0].Ranks = []int{99}
	strange.samples.Ranks[0].Rank, strange.samples.Doing[0].Rank = 98, 97
	strange.samples.Processes = nil
	hosts = describe([]toldHost{strange})
	assert.Equal(t, "not started yet", first(hosts).State, "what a proxy tells of ranks that it does not have is left out")
}

// A watchedJob is a job of two hosts whose proxies are this test.
type watchedJob struct {
	*Job
	frames []*channel.Trunk // what the proxies get
}

func newWatchedJob(t *testing.T) watchedJob {
	t.Helper()
	w := watchedJob{Job: NewJob(plan.Plan{Hosts: []plan.Host{aHost(0, 0, "a", 0)}}, launch.Options{}, 0, slog.New(slog.DiscardHandler))}
	for id := range 2 {
		r, out := io.Pipe()
		trunk := channel.New(bytes.NewReader(nil), out)
		t.Cleanup(trunk.Close)
		w.frames = append(w.frames, channel.New(r, discard{}))
		w.proxies = append(w.proxies, &proxyLink{world: &world{}, host: aHost(id, 0, "ab"[id:id+1], id), conn: trunk.Conn(id), pids: []int{100 + id}})
	}
	return w
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

// run serves the job's goroutine until the test ends.
func (w watchedJob) run(t *testing.T) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case question := <-w.questions:
				question()
			case e := <-w.events:
				w.handle(e)
			case <-stop:
				close(w.over)
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
}

// asked returns the index of the next frame of a proxy, which has to ask for samples.
func (w watchedJob) asked(t *testing.T, proxy int) int {
	t.Helper()
	frame, err := w.frames[proxy].Receive()
	require.NoError(t, err)
	require.Equal(t, channel.Watch, frame.Kind)
	return frame.Index
}

// answer sends samples of a proxy.
func (w watchedJob) answer(proxy, index, taken int) {
	w.events <- event{link: w.proxies[proxy], frame: channel.Frame{Kind: channel.Watched, Index: index, Body: wire.Encode(channel.Samples{Taken: taken})}}
}

// Each look asks all proxies and has their answers to it, and the last who watches has them sample no more.
func TestWatch(t *testing.T) {
	w := newWatchedJob(t)
	w.run(t)
	end, endOther := asked{w.Job}.Watch(), asked{w.Job}.Watch()
	looked := make(chan whereabouts.Job, 1)
	look := func() {
		go func() {
			job, ok := asked{w.Job}.Look()
			assert.True(t, ok)
			looked <- job
		}()
	}
	for round := 1; round <= 2; round++ {
		look()
		assert.Equal(t, round, w.asked(t, 0))
		assert.Equal(t, round, w.asked(t, 1))
		w.answer(0, round-1, 999) // too late for the round before
		w.answer(1, round, 20*round)
		w.answer(0, round, 10*round)
		job := <-looked
		assert.Equal(t, "solver", job.Name)
		assert.Equal(t, 2, job.Ranks)
		assert.Equal(t, []int{10 * round, 20 * round}, []int{job.Hosts[0].Samples, job.Hosts[1].Samples})
	}
	end()
	look()
	assert.Equal(t, 3, w.asked(t, 0), "another one watches")
	assert.Equal(t, 3, w.asked(t, 1))
	w.answer(0, 3, 1)
	w.answer(1, 3, 1)
	<-looked
	endOther()
	assert.Zero(t, w.asked(t, 0))
	assert.Zero(t, w.asked(t, 1))
}

// Hosts whose ranks have not been started are not asked, and of too many ranks the first are told.
func TestWatchOfSome(t *testing.T) {
	w := newWatchedJob(t)
	w.proxies[1].pids = nil
	assert.Len(t, w.watched(), 1)
	w.proxies[1].pids, w.proxies[1].host.Ranks = []int{1}, mostWatched
	assert.Len(t, w.watched(), 1)
	var job whereabouts.Job
	assert.Len(t, w.tell(&job), 1)
	assert.Equal(t, mostWatched+1, job.Ranks)
	assert.Equal(t, mostWatched, job.LeftOut)
	w.proxies[0].host.Ranks = mostWatched + 1
	assert.Len(t, w.watched(), 1, "there is always a host")
}

// At the end of the job nobody waits for an answer.
func TestWatchOfJobThatIsOver(t *testing.T) {
	w := newWatchedJob(t)
	close(w.over)
	end := asked{w.Job}.Watch()
	_, ok := asked{w.Job}.Look()
	assert.False(t, ok)
	assert.Empty(t, asked{w.Job}.Where())
	end()
}

// A line of a proxy that cannot be read ends the job.
func TestGarbledSamples(t *testing.T) {
	w := newWatchedJob(t)
	w.ending = true
	w.sampled(event{link: w.proxies[0], frame: channel.Frame{Kind: channel.Watched, Body: []byte{1}}})
	assert.Equal(t, ExitLauncher, w.outcome.Code)
}

// 4,096 ranks of 64 hosts, which are in a barrier.
func BenchmarkDescribe(b *testing.B) {
	var hosts []toldHost
	for id := range 64 {
		all := told(aHost(id, 0, "a", 64*id), channel.OutOfBarrier, receives(64*id, 0))
		for rank := 64*id + 1; rank < 64*(id+1); rank++ {
			more := told(aHost(id, 0, "a", rank), channel.OutOfBarrier, receives(rank, 0)).samples
			all.host.Sets = append(all.host.Sets, plan.RankSet{Ranks: []int{rank}})
			all.samples.Whereabouts = append(all.samples.Whereabouts, more.Whereabouts...)
			all.samples.Doing = append(all.samples.Doing, more.Doing...)
			all.samples.Ranks = append(all.samples.Ranks, more.Ranks...)
			all.samples.Processes = append(all.samples.Processes, more.Processes...)
		}
		hosts = append(hosts, all)
	}
	for b.Loop() {
		describe(hosts)
	}
}
