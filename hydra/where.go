// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/ranges"
)

// locateLimit is how long proxies may take to tell where their ranks are.
const locateLimit = 2 * time.Second

// locate asks the proxies where their ranks are, and calls then when all have answered or have had enough time. Who asks while
// others wait for the answers gets these as well.
func (j *Job) locate(then func()) {
	j.whenLocated = append(j.whenLocated, then)
	if len(j.whenLocated) > 1 {
		return
	}
	j.unlocated = time.After(locateLimit)
	for _, link := range j.proxies {
		link.asksWhere = !link.done
		link.conn.Send(channel.Locate, 0, nil)
	}
	j.locatedIfAll()
}

// located takes a proxy's answer.
func (j *Job) located(e event) {
	var answer channel.Location
	if err := e.frame.Value(&answer); err != nil {
		j.garbled(e.link, err)
		return
	}
	e.link.asksWhere, e.link.where = false, answer
	j.locatedIfAll()
}

// locatedIfAll goes on if no proxy has still to answer.
func (j *Job) locatedIfAll() {
	if !slices.ContainsFunc(j.proxies, func(link *proxyLink) bool { return link.asksWhere && !link.done }) {
		j.locatedAll()
	}
}

// locatedAll goes on with what is known.
func (j *Job) locatedAll() {
	all := j.whenLocated
	j.whenLocated, j.unlocated = nil, nil
	for _, then := range all {
		then()
	}
}

// phaseTexts say how far ranks had come, and no more than the proxy can see.
var phaseTexts = map[channel.Phase]string{
	channel.NotStarted:   "not started yet",
	channel.NoSession:    "no word over PMI: before MPI_Init, or not an MPI program",
	channel.InSession:    "had begun MPI_Init",
	channel.OutOfBarrier: "had begun MPI_Init, in no PMI barrier",
	channel.InBarrier:    "waited in a PMI barrier for other ranks",
	channel.Finalized:    "had finalized PMI: at the end of MPI_Finalize, or after it",
	channel.Ended:        "had ended",
}

// mostWhereabouts is how many lines tell the ranks of each host apart. Above it hosts share lines, without their processes.
const mostWhereabouts = 16

// whereaboutLines say where the ranks were at the time limit: a line for those of a host that had come equally far.
func (j *Job) whereaboutLines() []string {
	var apart []string
	var together complaints
	for _, link := range j.proxies {
		for _, at := range link.whereabouts() {
			own := complaint{text: at.text, group: link.host.Group, ranks: at.ranks, hosts: []string{link.host.Name}}
			apart = append(apart, own.line()+at.age()+at.processes())
			together.add(at.text, link.host.Name, link.host.Group, at.ranks...)
		}
	}
	if len(apart) > mostWhereabouts {
		apart = together.lines()
	}
	return append(apart, j.explanationLines()...)
}

// explanationLines say why the ranks of each world wait, as far as they note their calls.
func (j *Job) explanationLines() (lines []string) {
	for _, w := range j.worlds {
		var doing []calls.Rank
		for _, link := range w.links {
			doing = append(doing, link.where.Doing...)
		}
		for _, text := range calls.Explain(doing) {
			lines = append(lines, "mpiexec: "+strings.TrimSpace(ofGroup(w.index)+" "+text))
		}
	}
	return lines
}

// A whereabout is the ranks of a host that had come equally far.
type whereabout struct {
	text        string
	quiet       time.Duration // for how long at least all of them have been there; 0: not known
	ranks, pids []int
}

// whereabouts puts together what the proxy has told. It is empty if the proxy was not asked.
func (link *proxyLink) whereabouts() (all []whereabout) {
	if link.asksWhere {
		return []whereabout{{text: "not known, as their proxy did not answer", ranks: link.host.LocalRanks()}}
	}
	for _, told := range link.where.Whereabouts {
		for _, rank := range told.Ranks {
			at := whereabout{text: phaseTexts[told.Phase], ranks: []int{rank}}
			if doing := link.doing(rank); doing.Known && told.Phase != channel.Ended && told.Phase != channel.Finalized {
				at.text, at.quiet = doing.Text(), doing.Quiet
			}
			if told.PID > 0 && told.Phase != channel.Ended {
				at.pids = []int{told.PID}
			}
			all = addWhereabout(all, at)
		}
	}
	return all
}

// addWhereabout adds what is known of a rank to that of ranks that had come equally far.
func addWhereabout(all []whereabout, at whereabout) []whereabout {
	i := slices.IndexFunc(all, func(other whereabout) bool { return other.text == at.text })
	if i < 0 {
		return append(all, at)
	}
	all[i].ranks, all[i].pids = append(all[i].ranks, at.ranks...), append(all[i].pids, at.pids...)
	all[i].quiet = min(all[i].quiet, at.quiet)
	return all
}

// doing returns what a rank does, as far as it notes that.
func (link *proxyLink) doing(rank int) calls.Rank {
	i := slices.IndexFunc(link.where.Doing, func(r calls.Rank) bool { return r.Rank == rank })
	if i < 0 {
		return calls.Rank{}
	}
	return link.where.Doing[i]
}

// age says for how long the ranks have been there.
func (at whereabout) age() string {
	if at.quiet < time.Second {
		return ""
	}
	return fmt.Sprintf(" for %s", at.quiet.Truncate(time.Second))
}

// processes names those of the ranks.
func (at whereabout) processes() string {
	pids := slices.Compact(slices.Sorted(slices.Values(at.pids)))
	switch len(pids) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (PID %d)", pids[0])
	}
	return fmt.Sprintf(" (PIDs %s)", ranges.Format(pids))
}
