// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// mostWatched is how many ranks who watches is told of, and the proxies of no more are asked.
const mostWatched = 16384

// Watch implements whereabouts.Respondent.
func (j asked) Watch() (end func()) {
	j.ask(func(answered func()) {
		j.watchers++
		answered()
	})
	return func() {
		j.ask(func(answered func()) {
			j.watchEnds()
			answered()
		})
	}
}

// watchEnds has the proxies sample no more when the last watcher has left.
func (j *Job) watchEnds() {
	if j.watchers--; j.watchers > 0 {
		return
	}
	for _, link := range j.watched() {
		link.conn.Send(channel.Watch, 0, nil)
		link.samples = nil
	}
}

// watched lists the proxies that who watches is told of: those whose ranks have been started, as far as these are not too many.
func (j *Job) watched() (links []*proxyLink) {
	ranks := 0
	for _, link := range j.proxies {
		if ranks += link.host.Ranks; ranks > mostWatched && len(links) > 0 {
			return links
		}
		if link.pids != nil {
			links = append(links, link)
		}
	}
	return links
}

// sample asks the proxies what their ranks do, and calls then when that is known.
func (j *Job) sample(then func()) {
	if !j.sampling.underWay() {
		j.samplings++
	}
	j.sampling.begin(j.watched(), func(link *proxyLink) { link.conn.Send(channel.Watch, j.samplings, nil) }, then)
}

// sampled takes a proxy's answer. One that comes too late is of no use.
func (j *Job) sampled(e event) {
	var answer channel.Samples
	if err := e.frame.Value(&answer); err != nil {
		j.garbled(e.link, err)
		return
	}
	if e.frame.Index == j.samplings {
		e.link.samples = &answer
		j.sampling.answered(e.link)
	}
}

// Look implements whereabouts.Respondent.
func (j asked) Look() (job whereabouts.Job, ok bool) {
	var told []toldHost
	ok = j.ask(func(answered func()) {
		j.sample(func() {
			job = whereabouts.Job{PID: os.Getpid(), Name: programNames(j.plan), Began: j.began, Elapsed: time.Since(j.began), NotNoted: !j.plan.State.Notes()}
			told = j.tell(&job)
			answered()
		})
	})
	if ok {
		job.Hosts = describe(told)
	}
	return job, ok
}

// programNames names the programs of a plan, as a user calls them.
func programNames(p plan.Plan) string {
	var names []string
	for _, program := range p.Hosts[0].Programs {
		if name := filepath.Base(program.Args[0]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A toldHost is what is known of a host, for a goroutine that is not the job's.
type toldHost struct {
	host         plan.Host
	silent, done bool
	samples      *channel.Samples // nil if it has told none
}

// tell returns what is known of the hosts, and adds to the job how many ranks it has.
func (j *Job) tell(job *whereabouts.Job) (told []toldHost) {
	for _, link := range j.proxies {
		if link.world.refused {
			continue
		}
		job.Ranks += link.host.Ranks
		if job.Ranks > mostWatched && len(told) > 0 {
			job.LeftOut += link.host.Ranks
			continue
		}
		told = append(told, toldHost{link.host, j.sampling.silent[link], link.done, link.samples})
	}
	return told
}

// describe puts together what hosts have told, for tpsl top.
func describe(told []toldHost) []whereabouts.Host {
	hosts := make([]whereabouts.Host, len(told))
	worlds := map[int]*watchedWorld{}
	for i, t := range told {
		hosts[i] = t.describe()
		w := worlds[t.host.Group]
		if w == nil {
			w = &watchedWorld{entries: map[int]*whereabouts.Rank{}}
			worlds[t.host.Group] = w
		}
		w.add(&hosts[i], t)
	}
	for _, w := range worlds {
		w.findAwaited()
	}
	return hosts
}

// describe returns a host with its processes and ranks. Ranks without a process have one that is not known.
func (t toldHost) describe() whereabouts.Host {
	h := whereabouts.Host{Proxy: t.host.ID, Name: t.host.Name, Group: t.host.Group, Silent: t.silent}
	left := t.host.LocalRanks()
	if t.samples != nil {
		h.At, h.Samples = t.samples.At, t.samples.Taken
		for _, p := range t.samples.Processes {
			h.Processes = append(h.Processes, whereabouts.Process{PID: p.PID, Resident: p.Resident, Ranks: entries(p.Ranks, p.PID)})
			left = slices.DeleteFunc(left, func(rank int) bool { return slices.Contains(p.Ranks, rank) })
		}
	}
	if len(left) > 0 {
		h.Processes = append(h.Processes, whereabouts.Process{Ranks: entries(left, 0)})
	}
	return h
}

// entries returns those of ranks of which nothing is known but their process.
func entries(ranks []int, pid int) (list []whereabouts.Rank) {
	for _, rank := range ranks {
		list = append(list, whereabouts.Rank{Rank: rank, PID: pid, State: phaseTexts[channel.NotStarted]})
	}
	return list
}

// A watchedWorld is the ranks of a world, with their entries in what tpsl top is told.
type watchedWorld struct {
	doing   []calls.Rank
	entries map[int]*whereabouts.Rank // by rank
}

// add fills in what a host has told of its ranks.
func (w *watchedWorld) add(h *whereabouts.Host, t toldHost) {
	for p := range h.Processes {
		for r := range h.Processes[p].Ranks {
			entry := &h.Processes[p].Ranks[r]
			w.entries[entry.Rank] = entry
		}
	}
	if t.samples == nil {
		return
	}
	for _, own := range t.samples.Ranks {
		if entry := w.entries[own.Rank]; entry != nil {
			entry.InCall, entry.Used = own.InCall, own.Used
			entry.CPU, entry.Voluntary, entry.Involuntary, entry.Faults = own.CPU, own.Voluntary, own.Involuntary, own.Faults
		}
	}
	doing := map[int]calls.Rank{}
	for _, r := range t.samples.Doing {
		r.Ended = r.Ended || t.done
		doing[r.Rank] = r
		if !t.silent {
			w.doing = append(w.doing, r)
		}
	}
	for _, told := range t.samples.Whereabouts {
		if t.done {
			told.Phase = channel.Ended
		}
		for _, rank := range told.Ranks {
			w.locate(rank, told, doing[rank], t.silent)
		}
	}
}

// locate fills in where a rank is and what it does.
func (w *watchedWorld) locate(rank int, told channel.Whereabouts, doing calls.Rank, silent bool) {
	entry := w.entries[rank]
	if entry == nil {
		return // its proxy knows better
	}
	if told.PID > 0 {
		entry.PID = told.PID
	}
	entry.State, entry.Since = stateOf(told.Phase, doing)
	entry.Ended = told.Phase == channel.Ended
	entry.InMPI = !entry.Ended && len(doing.Calls) > 0
	if silent && !entry.Ended {
		entry.State, entry.Since, entry.InMPI = notAnswered, 0, false
	}
}

// findAwaited fills in for whom each rank waits.
func (w *watchedWorld) findAwaited() {
	for i, awaited := range calls.AwaitedBy(w.doing) {
		if entry := w.entries[w.doing[i].Rank]; entry != nil {
			entry.For, entry.ForMore, entry.ForAny = awaited.Ranks, awaited.More, awaited.Any
		}
	}
}
