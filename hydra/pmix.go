// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// This file has the requests to other hosts of ranks that are served by PMIx, except barriers and names.

// layout tells a proxy that serves PMIx where all ranks of a world are.
func (j *Job) layout(e event) {
	var layout channel.Layout
	if err := e.frame.Value(&layout); err != nil {
		j.garbled(e.link, err)
		return
	}
	w := j.worldOf(layout.Space)
	if w == nil { // a rank has named a key-value space that nobody has
		layout.Error = errNoWorld.Error()
		e.link.conn.Answer(e.frame.Index, layout)
		return
	}
	layout.Programs, layout.Universe = make([]int, w.plan.Size), max(w.plan.Hosts[0].World.Universe, w.plan.Size)
	for _, host := range w.plan.Hosts {
		layout.Hosts = append(layout.Hosts, host.Name)
		layout.Ranks = append(layout.Ranks, host.LocalRanks())
		for _, set := range host.Sets {
			for _, rank := range set.Ranks {
				layout.Programs[rank] = set.Program
			}
		}
	}
	e.link.pmix = true
	e.link.conn.Answer(e.frame.Index, layout)
	j.agree(e.link.world)
	j.askAgain(e.link)
}

var errNoWorld = errors.New("no ranks have that key-value space")

// worldOf returns the world of a key-value space, or nil.
func (j *Job) worldOf(space string) *world {
	i := slices.IndexFunc(j.worlds, func(w *world) bool { return w.plan.Hosts[0].World.KVSName == space })
	if i < 0 {
		return nil
	}
	return j.worlds[i]
}

// agree ends a job in which ranks of some hosts are served by PMIx and those of other hosts by PMI, because they would wait for each
// other for ever.
func (j *Job) agree(w *world) {
	which := func(pmix bool) int {
		return slices.IndexFunc(w.links, func(link *proxyLink) bool { return link.pmix == pmix && (pmix || link.pids != nil) })
	}
	if with, without := which(true), which(false); with >= 0 && without >= 0 {
		j.broken(w, -1, fmt.Sprintf("the programs on %s are served by PMIx, as their MPI library wants it, and those on %s by PMI; start them as jobs of their own, or give -pmi x if all their MPI libraries speak PMIx",
			w.links[with].host.Name, w.links[without].host.Name))
	}
}

// askRank passes a question about a rank on to the proxy of its host, as soon as it is known whether that proxy serves PMIx.
func (j *Job) askRank(e event) {
	var query channel.Modex
	if err := e.frame.Value(&query); err != nil {
		j.garbled(e.link, err)
		return
	}
	query.Proxy, query.ID = e.link.host.ID, e.frame.Index
	switch link := j.linkOf(query.Space, query.Rank); {
	case link != nil && link.pmix:
		link.conn.SendValue(channel.ModexQuery, query)
	case link != nil && link.pids == nil:
		link.asked = append(link.asked, e)
	default:
		query.Error = fmt.Sprintf("rank %d of %s is not served by PMIx", query.Rank, query.Space)
		e.link.conn.Answer(query.ID, query)
	}
}

// askAgain passes on the questions that came before it was known whether the proxy serves PMIx.
func (j *Job) askAgain(link *proxyLink) {
	asked := link.asked
	link.asked = nil
	for _, e := range asked {
		j.askRank(e)
	}
}

// linkOf returns the link of the proxy of a rank, or nil.
func (j *Job) linkOf(space string, rank int) *proxyLink {
	w := j.worldOf(space)
	if w == nil {
		return nil
	}
	for _, link := range w.links {
		if slices.Contains(link.host.LocalRanks(), rank) {
			return link
		}
	}
	return nil
}

// tellRank passes the answer to a question on to the proxy that has asked.
func (j *Job) tellRank(e event) {
	var reply channel.Modex
	if err := e.frame.Value(&reply); err != nil {
		j.garbled(e.link, err)
		return
	}
	if link := j.proxy(reply.Proxy); link != nil {
		link.conn.Answer(reply.ID, reply)
	}
}

// A meeting is a barrier of ranks of several worlds, so no world's tree of barriers can serve it. Its name is a tag, a blank, and the
// ranks of each world: "SPACE:0,1;SPACE:*".
type meeting struct {
	want, got int
	puts      []pmi.Entry
	arrived   []channel.Frame // the requests to answer
}

// meet enters ranks of a host into a meeting. All hosts are answered when all ranks have come.
func (j *Job) meet(e event) {
	arrival, err := pmi.ParseArrival(e.frame.Body)
	var want int
	if err == nil {
		want, err = j.invited(arrival.Barrier)
	}
	if err != nil {
		j.garbled(e.link, err)
		return
	}
	m := j.meetings[arrival.Barrier]
	if m == nil {
		m = &meeting{want: want}
		j.meetings[arrival.Barrier] = m
	}
	m.got += arrival.Count
	m.puts = append(m.puts, arrival.Puts...)
	m.arrived = append(m.arrived, e.frame)
	if m.got < m.want {
		return
	}
	delete(j.meetings, arrival.Barrier)
	for _, frame := range m.arrived {
		done := pmi.Arrival{Barrier: arrival.Barrier, Count: m.want, Puts: m.puts}
		j.proxy(frame.Proxy).conn.Send(channel.Answer, frame.Index, done.Append(nil))
	}
}

// invited counts the ranks that are to come to a meeting.
func (j *Job) invited(name string) (count int, err error) {
	_, who, _ := strings.Cut(name, " ")
	for part := range strings.SplitSeq(who, ";") {
		space, list, _ := strings.Cut(part, ":")
		w := j.worldOf(space)
		switch {
		case w == nil:
			return 0, fmt.Errorf("ranks of %q are to meet: %w", space, errNoWorld)
		case list == "*":
			count += w.plan.Size
		default:
			count += strings.Count(list, ",") + 1
		}
	}
	return count, nil
}
