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

// locate asks the proxies where their ranks are, and calls then when that is known.
func (j *Job) locate(then func()) {
	j.locating.begin(j.proxies, func(link *proxyLink) { link.conn.Send(channel.Locate, 0, nil) }, then)
}

// located takes a proxy's answer.
func (j *Job) located(e event) {
	var answer channel.Location
	if err := e.frame.Value(&answer); err != nil {
		j.garbled(e.link, err)
		return
	}
	e.link.where = answer
	j.locating.answered(e.link)
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

// notAnswered says where ranks are of which their proxy tells nothing.
const notAnswered = "not known, as their proxy did not answer"

// mostWhereabouts is how many lines tell the ranks of each host apart. Above it hosts share lines, without their processes.
const mostWhereabouts = 16

// whereaboutLines say where the ranks were at the time limit: a line for those of a host that had come equally far.
func (j *Job) whereaboutLines() []string {
	var apart []string
	var together complaints
	for _, link := range j.proxies {
		for _, at := range j.whereabouts(link) {
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

// stateOf says what a rank does, and for how long at least it has done that; 0: not known.
func stateOf(phase channel.Phase, doing calls.Rank) (text string, quiet time.Duration) {
	if doing.Known && phase != channel.Ended && phase != channel.Finalized {
		return doing.Text(), doing.Quiet
	}
	return phaseTexts[phase], 0
}

// A whereabout is the ranks of a host that had come equally far.
type whereabout struct {
	text        string
	quiet       time.Duration // for how long at least all of them have been there; 0: not known
	ranks, pids []int
}

// whereabouts puts together what the proxy has told. It is empty if the proxy was not asked.
func (j *Job) whereabouts(link *proxyLink) (all []whereabout) {
	if j.locating.silent[link] {
		return []whereabout{{text: notAnswered, ranks: link.host.LocalRanks()}}
	}
	for _, told := range link.where.Whereabouts {
		for _, rank := range told.Ranks {
			at := whereabout{ranks: []int{rank}}
			at.text, at.quiet = stateOf(told.Phase, rankOf(link.where.Doing, rank))
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

// rankOf returns what a rank does, as far as it notes that.
func rankOf(doing []calls.Rank, rank int) calls.Rank {
	i := slices.IndexFunc(doing, func(r calls.Rank) bool { return r.Rank == rank })
	if i < 0 {
		return calls.Rank{}
	}
	return doing[i]
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
