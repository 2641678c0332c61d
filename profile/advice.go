// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"fmt"
	"slices"
)

// An answer is to one of the questions that every reader has.
type answer struct{ question, text string }

// answers returns them in the order in which they are shown.
func (s *summary) answers() []answer {
	return []answer{
		{"Which rank is slow?", s.slowRank()},
		{"Which line waits?", s.waitingLine()},
		{"What stays in the process?", s.staysInside()},
		{"Is the network used?", s.network()},
		{"What to change first?", s.advice()[0].text},
	}
}

// slowest is the index of the counted rank that computes longest, or -1.
func (s *summary) slowest() int {
	slowest := -1
	for _, i := range s.counted {
		if slowest < 0 || s.parts[i].compute > s.parts[slowest].compute {
			slowest = i
		}
	}
	return slowest
}

// A rank that computes less than this times the mean is not called slow, and others do not wait for it for long.
const slow = 1.05

func (s *summary) slowRank() string {
	i := s.slowest()
	if i < 0 {
		return "No rank was counted."
	}
	if len(s.counted) == 1 {
		return "There is one rank only."
	}
	e := s.efficiencies
	switch {
	case e.MaxUseful < slow*e.MeanUseful || e.MaxUseful == 0:
		return fmt.Sprintf("None. All compute about equally long: at most %s times the mean of %s.", three(max(1, share(e.MaxUseful, e.MeanUseful))), seconds(e.MeanUseful))
	case !s.isUnbalanced():
		return fmt.Sprintf("None that matters. Rank %s computes longest, for %s of %s.", s.rankName(i), seconds(e.MaxUseful), seconds(e.Runtime))
	}
	return fmt.Sprintf("Rank %s on %s: it computes for %s, %s times the mean of %s.", s.rankName(i), s.hostOf(i), seconds(e.MaxUseful),
		three(e.MaxUseful/e.MeanUseful), seconds(e.MeanUseful))
}

// isUnbalanced reports whether a rank computes so much longer than the others that the job could end earlier by what is worth it.
func (s *summary) isUnbalanced() bool {
	e := s.efficiencies
	return len(s.counted) > 1 && e.MaxUseful >= slow*e.MeanUseful && share(e.MaxUseful-e.MeanUseful, e.Runtime) >= atStake
}

// mayWaitMost are the sites that may wait, those with most time first.
func (s *summary) mayWaitMost() (found []*site) {
	for i := range s.sites {
		if waitsFor(s.sites[i].function) {
			found = append(found, &s.sites[i])
		}
	}
	return found
}

// waitsFor reports whether a function may wait for other ranks in the midst of the job.
func waitsFor(function string) bool {
	return function != "" && mayWait(function) && !isStartOrEnd(function)
}

// waitingLine names the site with most time, whether or not it is known how much of it is waiting, and the next one if it takes about as much.
func (s *summary) waitingLine() string {
	found := s.mayWaitMost()
	if len(found) == 0 || found[0].time == 0 {
		return "None: no call that was counted waits."
	}
	text := s.mayWaitText(found[0])
	if len(found) > 1 && found[1].time >= found[0].time/2 {
		text += " Next is " + s.mayWaitText(found[1])
	}
	return text + s.qualification()
}

func (s *summary) mayWaitText(w *site) string {
	text := fmt.Sprintf("%s: %s takes %s of all ranks' time", s.where(w.place), w.function, percent(share(w.time, s.sum.sum())))
	if w.unknown {
		return text + "; how much of it is waiting is not known."
	}
	return text + fmt.Sprintf(", and at least %s is waiting for other ranks.", w.shareText(s.sum.sum()))
}

// qualification is a sentence behind what is said of waiting, where ranks have too few CPUs.
func (s *summary) qualification() string {
	if len(s.crowds) == 0 {
		return ""
	}
	return fmt.Sprintf(" With %s on %s, this may as well be waiting for a CPU.", number(s.crowds[0].ranks, "rank"), number(s.crowds[0].cpus, "CPU"))
}

func (s *summary) staysInside() string {
	if s.total.bytes == 0 {
		return "No rank brought data to another one."
	}
	text := fmt.Sprintf("%s of %s", percent(s.insideNow()), size(s.total.bytes))
	if rpp := s.rpp(); rpp > 1 {
		return fmt.Sprintf("%s, with up to %s in a process, as its threads.", text, number(rpp, "rank"))
	}
	return text + ": each rank has a process of its own."
}

func (s *summary) network() string {
	switch {
	case s.usedHosts() == 1:
		return "No. All ranks are on one host, " + s.hostOf(0) + "."
	case s.betweenHosts.bytes == 0:
		return "Hardly: no data that were counted went between hosts."
	}
	text := fmt.Sprintf("%s of %s go between hosts, %s", percent(share(s.betweenHosts.bytes, s.total.bytes)), size(s.total.bytes), size(s.betweenHosts.bytes))
	if t := s.efficiencies.Runtime; t > 0 {
		text += fmt.Sprintf(" or %s/s for each host", size(s.betweenHosts.bytes/t/float64(s.usedHosts())))
	}
	return "Yes. " + text + "."
}

// An advice says what to change, with its numbers.
type advice struct {
	text   string
	reason string
	known  knowledge
	share  float64 // of all ranks' time, that is at stake at most
}

// A knowledge says what is known of what an advice gains. What is known better comes first.
type knowledge int

const (
	distorts  knowledge = iota // what is measured means little before this is done
	gainKnown                  // by so much the job may end earlier
	timeKnown                  // calls take so much time; what is gained of it is not known
	noneKnown                  // what takes time is not known
)

// atStake is the least share of the time that is worth a line of advice.
const atStake = 0.01

// advice returns at least one. What has a known gain comes first, and of these what has most at stake.
func (s *summary) advice() []advice {
	if len(s.counted) == 0 {
		return []advice{{text: "Run a program that calls MPI: nothing was counted of this one."}}
	}
	var all []advice
	for _, find := range []func() []advice{s.adviseCPUs, s.adviseBalance, s.adviseDelays, s.adviseWaits, s.adviseProcesses, s.advisePolling, s.adviseSmall, s.adviseShort} {
		all = append(all, find()...)
	}
	slices.SortStableFunc(all, func(a, b advice) int {
		return cmp.Or(cmp.Compare(a.known, b.known), cmp.Compare(b.share, a.share))
	})
	if len(all) == 0 || all[0].known == noneKnown {
		all = slices.Insert(all, 0, advice{text: fmt.Sprintf("Nothing stands out. Ranks are in MPI for %s of their time.", percent(s.mpiShare()))})
	}
	return all
}

// adviseCPUs comes before all others: with too few CPUs, all times contain waiting for one.
func (s *summary) adviseCPUs() []advice {
	crowded := s.crowded()
	if crowded == "" {
		return nil
	}
	return []advice{{
		text:   fmt.Sprintf("Start fewer ranks, or take more hosts: %s.", crowded),
		reason: "Ranks that wait keep CPUs busy, so most time in MPI may be waiting for a CPU. Times outside of MPI contain such waiting, too.",
		known:  distorts,
	}}
}

func (s *summary) adviseBalance() []advice {
	e := s.efficiencies
	if i := s.slowest(); s.isUnbalanced() {
		return []advice{{
			text: fmt.Sprintf("Give rank %s less to compute, or its CPU more: the job would end up to %s earlier if all computed alike.",
				s.rankName(i), seconds(e.MaxUseful-e.MeanUseful)),
			reason: fmt.Sprintf("Load balance is %s: rank %s on %s computes for %s, the mean is %s.", percent(e.LoadBalance), s.rankName(i), s.hostOf(i), seconds(e.MaxUseful), seconds(e.MeanUseful)),
			known:  gainKnown,
			share:  share(e.MaxUseful-e.MeanUseful, e.Runtime),
		}}
	}
	return nil
}

func (s *summary) adviseDelays() (all []advice) {
	for i := range s.delays {
		d := &s.delays[i]
		saved := share(d.cost(), s.efficiencies.Runtime)
		if len(all) == 3 || saved < atStake {
			break
		}
		if !d.isCertain() {
			continue
		}
		look := "Look at what it does before."
		if s.parts[d.last].compute < s.efficiencies.MeanUseful {
			look = "It computes no longer than the mean, so look at whom it waits for before."
		}
		all = append(all, advice{
			text: fmt.Sprintf("Rank %s enters %s in %s %s later than the mean. %s", s.rankName(d.last), d.function, s.where(d.place), seconds(d.late), look),
			reason: fmt.Sprintf("On average of %s calls, on %s. An average member waits about %s for it in all. Rank %s is the earliest, by %s.", count(d.calls),
				s.communicatorName(d.communicator), seconds(d.cost()), s.rankName(d.first), seconds(max(0, -d.early))) + s.qualification(),
			known: gainKnown,
			share: saved,
		})
	}
	return all
}

// adviseWaits speaks of the site that takes most beside known waiting: what others wait for is advised upon by itself.
func (s *summary) adviseWaits() []advice {
	var w *site
	for i := range s.sites {
		if one := &s.sites[i]; waitsFor(one.function) && (w == nil || one.time-one.wait > w.time-w.wait) {
			w = one
		}
	}
	if w == nil {
		return nil
	}
	taken := share(w.time-w.wait, s.sum.sum())
	if taken < 5*atStake {
		return nil
	}
	beside := ""
	if w.wait > 0 {
		beside = ", waiting for late members not counted"
	}
	how := "Post the receives earlier, or compute between start and wait."
	switch {
	case isCollective(w.function) && w.shortest < share(w.time, w.calls)/10:
		how = fmt.Sprintf("Its shortest call takes %s, so most of that is waiting: see that all come at the same time.", seconds(w.shortest))
	case w.function == "MPI_Barrier":
		how = "Ask whether the barrier is needed: messages and collective operations order what they must."
	case isCollective(w.function):
		how = "Call it less often, or start its non-blocking form and compute meanwhile."
	}
	return []advice{{
		text:   fmt.Sprintf("%s in %s takes %s of all ranks' time%s. %s", w.function, s.where(w.place), percent(taken), beside, how),
		reason: fmt.Sprintf("%s calls, %s each, most in rank %s: %s.", count(w.calls), seconds(share(w.time, w.calls)), s.rankName(w.most), seconds(w.mostTime)) + s.qualification(),
		known:  timeKnown,
		share:  taken,
	}}
}

// transferTime is about how long a host takes to bring what was counted, by a microsecond for each message and a nanosecond for each byte, as
// a share of all ranks' time.
func (s *summary) transferTime() float64 {
	return share(s.total.count*1e-6+s.total.bytes*1e-9, s.sum.sum())
}

// Where bringing the data takes less than this share of the time, it does not matter which way they take.
const hardlyBrought = 0.001

// adviseProcesses proposes the smallest number of ranks in a process that keeps almost as much inside as any, if what is brought can matter.
func (s *summary) adviseProcesses() []advice {
	if s.transferTime() < hardlyBrought {
		return nil
	}
	now := s.insideNow()
	best := slices.MaxFunc(s.choices, func(a, b choice) int { return cmp.Compare(a.inside, b.inside) })
	chosen := s.choices[slices.IndexFunc(s.choices, func(c choice) bool { return c.inside >= best.inside-0.02 })]
	gain := chosen.inside - now
	if gain < 0.1 || chosen.now {
		return nil
	}
	return []advice{{
		text: fmt.Sprintf("Try mpiexec -rpp %d, which puts as many ranks into a process: %s of bytes stay in the process then, %s with -rpp %d as it was.", chosen.rpp, percent(chosen.inside), percent(now), s.rpp()),
		reason: fmt.Sprintf("What time that gains is not known: ranks are in MPI for %s of their time, and sums do not tell how much of it is transfer. It needs a program without variables that ranks share, "+
			"or private mode (-tpsl private). All ranks of a process end together. Counted from the matrix, with consecutive ranks of a host in each process.", percent(s.mpiShare())),
		known: noneKnown,
		share: gain * s.mpiShare(),
	}}
}

func (s *summary) advisePolling() []advice {
	var calls, time float64
	for i := range s.sites {
		if isPolling(s.sites[i].function) {
			calls += s.sites[i].calls
			time += s.sites[i].time
		}
	}
	if taken := share(time, s.sum.sum()); taken >= atStake {
		return []advice{{
			text:   fmt.Sprintf("Wait instead of asking: MPI_Test, MPI_Iprobe and their like take %s of all ranks' time.", percent(taken)),
			reason: fmt.Sprintf("%s calls, %s each.", count(calls), seconds(share(time, calls))),
			known:  timeKnown,
			share:  taken,
		}}
	}
	return nil
}

// A message of fewer bytes than this costs about as much as an empty one.
const smallMessage = 256

// adviseSmall speaks of the sends, as what a small message costs is there.
func (s *summary) adviseSmall() []advice {
	var small, all float64
	for _, c := range s.sizes {
		if c.Way != Messages {
			continue
		}
		all += float64(c.Count)
		if c.From < smallMessage {
			small += float64(c.Count)
		}
	}
	rate := share(small, s.sum.sum())
	// A message takes about a microsecond from call to call, so below this rate they cannot matter.
	if share(small, all) < 0.5 || rate < atStake*1e6 {
		return nil
	}
	return []advice{{
		text:   fmt.Sprintf("Put small messages together: %s of %s messages have fewer than %d bytes.", percent(small/all), count(all), smallMessage),
		reason: fmt.Sprintf("Each rank sends %s of them in a second.", count(rate)),
		known:  timeKnown,
		share:  min(rate*1e-6, s.mpiShare()),
	}}
}

// A run of fewer seconds than this between MPI_Init and MPI_Finalize may show its beginning more than its work.
const shortRun = 1.0

// adviseShort warns that most of the job was its start, and that what is left was short.
func (s *summary) adviseShort() []advice {
	taken, run := s.startTime(), s.efficiencies.Runtime
	if run >= shortRun || share(taken, taken+s.sum.sum()) < 0.1 {
		return nil
	}
	return []advice{{
		text:   fmt.Sprintf("Measure a longer run: MPI_Init and MPI_Finalize take %s of the ranks' whole time, and between them are only %s.", percent(share(taken, taken+s.sum.sum())), seconds(run)),
		reason: "In so short a time, first calls weigh much that are slower than later ones.",
		known:  noneKnown,
	}}
}
