// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/ranges"
)

// timedOut ends a job at its time limit. The proxies first tell where their ranks are: SIGTERM changes that.
func (j *Job) timedOut() {
	if j.outcome.decide(ExitLauncher) {
		j.outcome.note(fmt.Sprintf("APPLICATION TIMED OUT, TIMEOUT = %s", j.timeout))
		for _, link := range j.proxies {
			link.asksWhere = !link.done
			link.conn.Send(channel.Locate, 0, nil)
		}
	}
	j.signal(unix.SIGTERM)
	j.grace = time.After(termGrace)
}

// located takes a proxy's answer.
func (j *Job) located(e event) {
	var all []channel.Whereabouts
	if err := e.frame.Value(&all); err != nil {
		j.garbled(e.link, err)
		return
	}
	e.link.asksWhere, e.link.where = false, all
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
			apart = append(apart, own.line()+at.processes())
			together.add(at.text, link.host.Name, link.host.Group, at.ranks...)
		}
	}
	if len(apart) > mostWhereabouts {
		return together.lines()
	}
	return apart
}

// A whereabout is the ranks of a host that had come equally far.
type whereabout struct {
	text        string
	ranks, pids []int
}

// whereabouts puts together what the proxy has told. It is empty if the proxy was not asked.
func (link *proxyLink) whereabouts() (all []whereabout) {
	if link.asksWhere {
		return []whereabout{{text: "not known, as their proxy did not answer", ranks: link.host.LocalRanks()}}
	}
	for _, told := range link.where {
		text := phaseTexts[told.Phase]
		i := slices.IndexFunc(all, func(at whereabout) bool { return at.text == text })
		if i < 0 {
			i = len(all)
			all = append(all, whereabout{text: text})
		}
		all[i].ranks = append(all[i].ranks, told.Ranks...)
		if told.PID > 0 && told.Phase != channel.Ended {
			all[i].pids = append(all[i].pids, told.PID)
		}
	}
	return all
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
