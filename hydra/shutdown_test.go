// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/wire"
)

// unreachable is a launcher that starts nothing.
type unreachable struct{}

func (unreachable) Start(launch.Host) (launch.Remote, error) {
	return launch.Remote{}, errors.New("unreachable")
}

// endingJob returns a job that is ending. It has some proxies, and none of them runs.
func endingJob(proxies int) *Job {
	j := NewJob(plan.Plan{}, launch.Options{}, 0, slog.New(slog.DiscardHandler))
	j.ending = true
	j.children = launch.NewChildren(unreachable{}, launch.NewSecret(), j.launch, below{j})
	for id := range proxies {
		child := j.children.Add(launch.Branch{Host: launch.Host{ID: id}}, 1)
		j.addProxy(&world{}, plan.Host{ID: id, Name: "far"}, child.Trunk.Conn(id))
		child.Start()
	}
	return j
}

// At the end of a job, more events arrive than the queue of events has room for.
func TestFinishHearsAll(t *testing.T) {
	j := endingJob(200)
	done := make(chan struct{})
	go func() { j.finish(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the job does not end")
	}
	assert.Zero(t, j.open)
}

// mpiexec does not crash when a proxy reports something about ranks that it does not have.
func TestExitOfNobody(t *testing.T) {
	for _, exit := range []channel.Exit{{Set: 1, Rank: -1}, {Set: -1, Rank: -1}, {Rank: 7}} {
		j := endingJob(0)
		host := plan.Host{Name: "far", Sets: []plan.RankSet{{Ranks: []int{0}}}}
		link := &proxyLink{world: &world{}, host: host, placement: host.AsPlanned()}
		j.exited(event{link: link, frame: channel.Frame{Kind: channel.Exited, Body: wire.Encode(exit)}})
		assert.Equal(t, ExitLauncher, j.outcome.Code)
		assert.Contains(t, j.outcome.Lines[0], "which are not there")
	}
}

// When ranks abort, their decision is kept, even if processes are killed because the end takes too long.
func TestLossAfterTheEnd(t *testing.T) {
	j := endingJob(0)
	host := plan.Host{Name: "near", Sets: []plan.RankSet{{Ranks: []int{0}}}}
	link := &proxyLink{world: &world{}, host: host, placement: host.AsPlanned()}
	j.proxies, j.open = append(j.proxies, link), 1
	j.aborted(event{link: link, frame: channel.Frame{Kind: channel.Aborted, Body: wire.Encode(channel.Abort{Code: 7})}})
	j.expired = time.After(0)
	j.loop()
	j.lost(channel.Loss{Proxies: []int{0}, Began: true, Text: "killed"})
	assert.Equal(t, 7, j.outcome.Code)
	assert.Equal(t, []string{"mpiexec: the job did not end in time; killed what was left"}, j.outcome.Lines)
}
