// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// An exitInfo is the end of a process, and where it happened.
type exitInfo struct {
	channel.Exit
	set     plan.RankSet
	program string
	host    string
	group   int // number of the world that the process belongs to; 0 is that of the command line
}

func (e exitInfo) status() unix.WaitStatus { return unix.WaitStatus(e.Status) }

// who names the process in messages.
func (e exitInfo) who() string {
	if len(e.set.Ranks) > 1 {
		return fmt.Sprintf("%s%s (one process, %s on %s)", e.set.Name(), ofGroup(e.group), e.program, e.host)
	}
	return fmt.Sprintf("%s%s (%s on %s)", e.set.Name(), ofGroup(e.group), e.program, e.host)
}

// ofGroup names the world of spawned ranks in messages. It is empty for the ranks of the command line.
func ofGroup(group int) string {
	if group == 0 {
		return ""
	}
	return fmt.Sprintf(" of group %d", group)
}

// aborted handles MPI_Abort.
func (j *Job) aborted(e event) {
	var abort channel.Abort
	if err := e.frame.Value(&abort); err != nil {
		j.garbled(e.link, err)
		return
	}
	j.log.Debug("abort", "rank", abort.Rank, "code", abort.Code, "text", abort.Text)
	if e.link.world.refused {
		return
	}
	if j.outcome.decide(abort.Code & 255) {
		j.outcome.doubtful(e.link.world, e.link.placement.Together(abort.Rank), j.outcome.Lines)
		if abort.Unsaid {
			j.outcome.note(fmt.Sprintf("rank %d%s on %s called MPI_Abort: exit code %d",
				abort.Rank, ofGroup(e.link.host.Group), e.link.host.Name, abort.Code&255))
		}
	}
	j.end()
}

// exited handles the end of a process. The process runs a rank set, or is that of one rank in private mode.
func (j *Job) exited(e event) {
	info := exitInfo{host: e.link.host.Name, group: e.link.host.Group}
	if err := e.frame.Value(&info.Exit); err != nil {
		j.garbled(e.link, err)
		return
	}
	sets := e.link.placement.Sets
	if err := info.check(sets); err != nil {
		j.garbled(e.link, err)
		return
	}
	info.set = sets[info.Set]
	if info.Rank >= 0 {
		info.set = info.set.Only(info.Rank)
	}
	info.program = e.link.host.Programs[info.set.Program].Args[0]
	j.log.Debug("exited", "ranks", info.set.Label(), "status", info.Status, "unfinalized", info.Unfinalized)
	w := e.link.world
	if !info.Running && !w.refused {
		w.ends.add(info, time.Since(j.began))
	}
	switch {
	case w.refused:
	case info.Ended:
		if j.plan.Exit.KeepRunning && !j.ending {
			w.tellDead(w.endedWith(info)) // the whole set has ended, but the job goes on
		}
	case info.failure() != "":
		j.failed(w, info)
	default:
		j.outcome.count(info.status())
		if !info.Initialized && !j.plan.Exit.KeepRunning {
			w.idle = append(w.idle, info)
			j.endIfStuck(w)
		}
	}
}

// check returns an error if the host does not have the set or the rank.
func (e exitInfo) check(sets []plan.RankSet) error {
	if e.Set < 0 || e.Set >= len(sets) || e.Rank >= 0 && !sets[e.Set].Holds(e.Rank) {
		return fmt.Errorf("it tells of an end of rank %d in set %d, which are not there", e.Rank, e.Set)
	}
	return nil
}

// cause says why the end of the process breaks the job, without the ranks. It is empty for a good end.
func (e exitInfo) cause() string {
	status := e.status()
	switch {
	case e.Running:
		return "closed its PMI connection without MPI_Finalize"
	case status.Signaled():
		return fmt.Sprintf("%s (%d)%s", unix.SignalName(status.Signal()), status.Signal(), coreText(e))
	case len(e.Unfinalized) > 0:
		return fmt.Sprintf("exited with status %d without MPI_Finalize", status.ExitStatus())
	}
	return ""
}

// failure is the cause, with the ranks that it is about.
func (e exitInfo) failure() string {
	text := e.cause()
	if e.Running || e.status().Signaled() || text == "" {
		return text
	}
	text += " of " + plan.RankNames(e.Unfinalized)
	if len(e.set.Ranks) > 1 && e.ExitRank >= 0 {
		text += fmt.Sprintf("; exit was called by the thread of rank %d", e.ExitRank)
	}
	return text
}

// failed handles a process that broke the job.
func (j *Job) failed(w *world, info exitInfo) {
	if j.grace != nil {
		return // mpiexec has asked it to end
	}
	if info.Running {
		info.Status = 1 << 8 // the wait status of exit code 1
	}
	j.failures = append(j.failures, info)
	if info.status().Signaled() {
		j.outcome.reopen(w, info.set.Ranks)
	}
	j.outcome.count(info.status())
	switch {
	case j.outcome.final:
	case !info.status().Signaled() && j.plan.Exit.KeepRunning: // all failures are told together at the end
	case !info.status().Signaled():
		said := j.outcome.Lines
		j.outcome.note(info.who() + " " + info.failure())
		j.outcome.doubtful(w, info.set.Ranks, said)
	case j.crash < 0:
		j.crash = len(j.failures) - 1
	}
	if j.plan.Exit.KeepRunning {
		w.tellDead(info.set.Ranks)
		return
	}
	j.outcome.final = true
	j.end()
}

// endedWith returns the ranks of a process that ended because their set ended, without those that had ended before.
func (w *world) endedWith(info exitInfo) []int {
	return slices.DeleteFunc(slices.Clone(info.set.Ranks), func(rank int) bool { return !w.ends[rank].Ended })
}

// tellDead tells the ranks of the world that are alive which ones have died.
func (w *world) tellDead(ranks []int) {
	ranks = slices.DeleteFunc(slices.Clone(ranks), func(rank int) bool { return slices.Contains(w.dead, rank) })
	if len(ranks) == 0 {
		return
	}
	w.dead = append(w.dead, ranks...)
	for _, link := range w.links {
		link.conn.SendValue(channel.Dead, w.dead)
	}
}

// endIfStuck ends the job when one process has ended without MPI_Init while others use PMI, because the others would wait for it in
// a barrier for ever.
func (j *Job) endIfStuck(w *world) {
	if !w.pmiUsed || len(w.idle) == 0 {
		return
	}
	first := w.idle[0]
	code := first.status().ExitStatus()
	if code == 0 {
		code = ExitLauncher
	}
	if j.outcome.decide(j.outcome.Code | code) {
		j.outcome.note(fmt.Sprintf("%s exited with status %d without MPI_Init, which others wait for",
			first.who(), first.status().ExitStatus()))
	}
	j.end()
}

// An end is how one rank ended.
type end struct {
	exitInfo
	after time.Duration // since the job began
}

// ends are the ends of ranks, as far as they are known.
type ends map[int]end

// add records the end of a process for all of its ranks. A rank that had a process of its own keeps the end of its own process.
func (e ends) add(info exitInfo, after time.Duration) {
	for _, rank := range info.set.Ranks {
		if _, known := e[rank]; !known {
			e[rank] = end{info, after}
		}
	}
}
