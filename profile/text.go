// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

const (
	textRanks = 16 // at most so many ranks in text
	textRows  = 12 // and rows of any other table
	// Of the pairs of ranks, text and page show so many at first: in most jobs all pairs are alike.
	shownPairs = 5
	barWidth   = 20
)

// Text writes the profile for a terminal of 80 columns or more, without colours.
func (p *Profile) Text(w io.Writer) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	var out strings.Builder
	t := textOf{p.summarize(), &out}
	for _, section := range []func(){t.head, t.short, t.efficiency, t.advised, t.ranks, t.places, t.lateness, t.moved, t.messages, t.collectives, t.notes} {
		section()
	}
	_, err := io.WriteString(w, out.String())
	return err
}

type textOf struct {
	*summary
	out *strings.Builder
}

func (t textOf) head() {
	writeParagraph(t.out, "", "  ", "Profile of "+t.Job.Command)
	for _, line := range t.headLines() {
		writeParagraph(t.out, "  ", "    ", line)
	}
	for _, line := range t.unusual() {
		writeParagraph(t.out, "  ", "    ", line)
	}
}

// headLines say what ran where, for how long, and how much of that was in MPI.
func (s *summary) headLines() []string {
	lines := []string{
		s.arrangement() + ": " + s.hostNames(),
		fmt.Sprintf("%s elapsed; between MPI_Init and MPI_Finalize, ranks were in MPI for %s of their time", seconds(s.Job.Elapsed), percent(s.mpiShare())),
	}
	if started := s.started(); started != "" {
		lines = append(lines, started)
	}
	if layout := s.layout(); layout != "" {
		lines = append(lines, "Layout: "+layout)
	}
	made := "launcher tpsl " + s.Job.Version
	if s.Job.Library != "" {
		made += ", " + s.Job.Library
	}
	if !s.Job.Began.IsZero() {
		made += ", began " + s.Job.Began.Format("2006-01-02 15:04:05 -0700")
	}
	return append(lines, made)
}

func (t textOf) short() {
	writeHead(t.out, "In short")
	for _, a := range t.answers() {
		writeParagraph(t.out, fmt.Sprintf("  %-27s", a.question), strings.Repeat(" ", 29), a.text)
	}
}

// An efficiency is one of POP's, with what it means for this job.
type efficiency struct {
	name     string
	value    float64
	sentence string
}

func (s *summary) efficiencySentences() []efficiency {
	e := s.efficiencies
	return []efficiency{
		{"Parallel efficiency", e.Parallel, fmt.Sprintf("of the ranks' time is useful, which means outside of MPI: %s of %s. It is the product of the next two.", seconds(e.MeanUseful), seconds(e.Runtime))},
		{"Load balance", e.LoadBalance, fmt.Sprintf("is the mean useful time, %s, over that of the rank with most, %s. The rest is lost because ranks have unequal work.", seconds(e.MeanUseful), seconds(e.MaxUseful))},
		{"Communication efficiency", e.Communication, fmt.Sprintf("is the useful time of that rank over the run time, %s. The rest is lost in MPI even by the rank that has most to do.", seconds(e.Runtime))},
	}
}

const efficiencyDefinition = "These are the efficiencies of the POP project (pop-coe.eu), which looks at how well parallel programs use their CPUs, by its definitions. " +
	"The run time goes from the end of MPI_Init to the beginning of MPI_Finalize, and is that of the rank with the longest."

const notMeasured = "POP divides communication efficiency further into serialisation and transfer. That takes the run time on an ideal network, " +
	"which a simulator finds from a trace of all messages. A profile has sums only, so they are not told."

func (t textOf) efficiency() {
	if len(t.counted) == 0 {
		return
	}
	writeHead(t.out, "Efficiency")
	for _, e := range t.efficiencySentences() {
		writeParagraph(t.out, fmt.Sprintf("  %-24s %6s  ", e.name, percent(e.value)), strings.Repeat(" ", 35), e.sentence)
	}
}

func (t textOf) advised() {
	writeHead(t.out, "What to change")
	for i, a := range t.advice() {
		writeParagraph(t.out, fmt.Sprintf("  %d. ", i+1), "     ", a.text)
		if a.reason != "" {
			writeParagraph(t.out, "     ", "     ", a.reason)
		}
	}
}

// bar draws shares of a time: # compute, w wait, ? either, . transfer.
func bar(a division, whole float64) string {
	var out strings.Builder
	var sum float64
	drawn := 0
	for _, part := range []struct {
		sign    string
		seconds float64
	}{{"#", a.compute}, {"w", a.wait}, {"?", a.either}, {".", a.transfer}} {
		sum += part.seconds
		until := int(math.Round(barWidth * min(1, share(sum, whole))))
		out.WriteString(strings.Repeat(part.sign, until-drawn))
		drawn = until
	}
	return out.String()
}

// shownRanks are those that text tells: all, or the ones that compute longest and shortest.
func (s *summary) shownRanks() []int {
	if len(s.counted) <= textRanks {
		return s.counted
	}
	order := slices.Clone(s.counted)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.parts[b].compute, s.parts[a].compute) })
	return slices.Concat(order[:textRanks*3/4], order[len(order)-textRanks/4:])
}

func (t textOf) ranks() {
	shown := t.shownRanks()
	if len(shown) == 0 {
		return
	}
	writeHead(t.out, "Time of ranks")
	if len(shown) < len(t.counted) {
		writeParagraph(t.out, "  ", "  ", fmt.Sprintf("Of %s, those that compute longest and shortest.", number(len(t.counted), "rank")))
	}
	var rows [][]string
	for _, i := range shown {
		a := t.parts[i]
		rows = append(rows, []string{t.rankName(i), t.hostOf(i), seconds(a.compute), seconds(a.wait), seconds(a.either), seconds(a.transfer), bar(a, t.efficiencies.Runtime)})
	}
	writeTable(t.out, []column{{head: "RANK"}, {"HOST", true, 10}, {head: "COMPUTE"}, {head: "WAIT"}, {head: "EITHER"}, {head: "TRANSFER"}, {"# w ? .", true, 0}}, rows)
	writeParagraph(t.out, "  ", "  ", partsDefinition)
}

const partsDefinition = "Compute is the time outside of MPI. Wait is waiting at collective operations that no member leaves before all have come: the time that a rank took " +
	"longer than the member that took least, in all calls from a place. That is a lower bound, as that member may have waited, too; but a member that leaves late, as it had no CPU, " +
	"took longer as well, and that counts here. Transfer is the time of that member, an upper bound, with the " +
	"time of calls that do not wait. Either is the rest: receives, waits, blocking sends, collective operations with a root. They wait or transfer, and sums do not tell these apart."

func (t textOf) places() {
	if len(t.sites) == 0 {
		return
	}
	writeHead(t.out, "Calls by place")
	whole := t.sum.sum()
	var rows [][]string
	for i := range t.sites[:min(textRows, len(t.sites))] {
		s := &t.sites[i]
		rows = append(rows, []string{percent(share(s.time, whole)), s.shareText(whole), count(s.calls), seconds(share(s.time, s.calls)), seconds(s.shortest), functionName(s.function), t.where(s.place)})
	}
	writeTable(t.out, []column{{head: "OF TIME"}, {head: "WAIT"}, {head: "CALLS"}, {head: "EACH"}, {head: "SHORTEST"}, {"FUNCTION", true, 18}, {"PLACE", true, 16}}, rows)
	t.more(len(t.sites), textRows)
	writeParagraph(t.out, "  ", "  ", timeBase+" "+unknownWait)
}

const (
	timeBase    = "Shares of time are of all ranks' time between MPI_Init and MPI_Finalize, in MPI and outside."
	unknownWait = "A wait of \"-\" is not known: such calls wait or transfer, and sums do not tell which."
	bytesTold   = "Bytes: a send tells what is sent; a receive, or the call that completes it, what is received. So the bytes of a message stand in two rows. A collective operation tells what its ranks give to it."
	countsOnce  = "A message counts once here, though its sender and its receiver both tell it. A collective operation counts as a step for each pair of ranks of which one needs what the other gives: " +
		"one MPI_Allreduce of 8 ranks is 56 steps here, and counts 8 times in Sizes. Which way the MPI library takes is not known."
	sizesTold = "Messages count once, with the bytes that are sent. Collective operations count once for each rank that calls them, with the bytes that it gives."
)

// more says how many rows a table lacks.
func (t textOf) more(rows, shown int) {
	if rows > shown {
		fmt.Fprintf(t.out, "  and %s more\n", count(float64(rows-shown)))
	}
}

func (t textOf) moved() {
	if t.total.count == 0 {
		return
	}
	writeHead(t.out, "Who sends to whom")
	writeParagraph(t.out, "  ", "  ", t.movedLine())
	nodes, of := t.nodes()
	pairs, n := t.traffic.matrix(of).pairs(shownPairs)
	var rows [][]string
	for _, c := range pairs {
		rows = append(rows, []string{t.nodeName(&nodes[c.from]), t.nodeName(&nodes[c.to]), size(c.bytes), count(c.count), t.relation(&nodes[c.from], &nodes[c.to])})
	}
	writeTable(t.out, []column{{"FROM", true, 20}, {"TO", true, 20}, {head: "BYTES"}, {head: "COUNT"}, {"", true, 0}}, rows)
	t.more(n, shownPairs)
	writeParagraph(t.out, "  ", "  ", countsOnce)
	writeParagraph(t.out, "  ", "  ", choicesTitle+":")
	for _, c := range t.choices {
		now := ""
		if c.now {
			now = ", as it was"
		}
		fmt.Fprintf(t.out, "  -rpp %-5d %6s stay in the process%s\n", c.rpp, percent(c.inside), now)
	}
}

const choicesTitle = "What stays in the process by -rpp, the option of mpiexec that says how many ranks are in one"

// movedLine says what goes from rank to rank in each way, and how far.
func (s *summary) movedLine() string {
	words := map[Way]string{
		Messages: "%[1]s messages bring %[2]s", OneSided: "%[1]s one-sided operations bring %[2]s", Collective: "collective operations imply %[2]s in %[1]s steps from rank to rank",
	}
	totals := s.traffic.totals()
	var all []string
	for _, way := range allWays {
		if a := totals[way]; a.count > 0 {
			all = append(all, fmt.Sprintf(words[way], count(a.count), size(a.bytes)))
		}
	}
	return fmt.Sprintf("What is brought: %s. Of these %s, %s stay in their process, %s on their host, %s go between hosts.", strings.Join(all, ", "), size(s.total.bytes),
		percent(s.insideNow()), percent(share(s.total.bytes-s.betweenHosts.bytes, s.total.bytes)), percent(share(s.betweenHosts.bytes, s.total.bytes)))
}

// nodeName names the ranks of a row of the matrix.
func (s *summary) nodeName(n *node) string {
	first, last := s.rankName(n.ranks[0]), s.rankName(n.ranks[len(n.ranks)-1])
	switch {
	case len(n.ranks) == 1:
		return first
	case s.consecutive(n.ranks):
		return first + "-" + last
	}
	return fmt.Sprintf("%s and %d more", first, len(n.ranks)-1)
}

func (s *summary) consecutive(ranks []int) bool {
	for i := 1; i < len(ranks); i++ {
		a, b := &s.Ranks[ranks[i-1]], &s.Ranks[ranks[i]]
		if b.Group != a.Group || b.Rank != a.Rank+1 {
			return false
		}
	}
	return true
}

// relation says how far one is from the other.
func (s *summary) relation(a, b *node) string {
	switch {
	case a.host != b.host:
		return "other host"
	case a.process != b.process:
		return "same host"
	}
	return "same process"
}

func (t textOf) messages() {
	if len(t.sizes) == 0 {
		return
	}
	writeHead(t.out, "Sizes")
	whole := map[Way]float64{}
	for _, s := range t.sizes {
		whole[s.Way] += float64(s.Count)
	}
	var rows [][]string
	for _, s := range t.sizes {
		part := share(float64(s.Count), whole[s.Way])
		rows = append(rows, []string{string(s.Way), class(s.From), count(float64(s.Count)), percent(part), size(float64(s.Bytes)), strings.Repeat("#", int(math.Ceil(barWidth*part)))})
	}
	writeTable(t.out, []column{{"WAY", true, 0}, {head: "SIZE"}, {head: "COUNT"}, {head: "OF WAY"}, {head: "BYTES"}, {"", true, 0}}, rows)
	writeParagraph(t.out, "  ", "  ", sizesTold)
}

func (t textOf) collectives() {
	if len(t.usages) == 0 {
		return
	}
	writeHead(t.out, "Collective operations")
	var rows [][]string
	for i := range t.usages[:min(textRows, len(t.usages))] {
		u := &t.usages[i]
		rows = append(rows, []string{t.communicatorName(u.communicator), t.members(u), u.function, count(share(u.calls, float64(u.ranks))), percent(share(u.time, t.sum.sum())), u.shareText(t.sum.sum())})
	}
	writeTable(t.out, []column{{"COMMUNICATOR", true, 20}, {head: "SIZE"}, {"FUNCTION", true, 24}, {head: "CALLS"}, {head: "OF TIME"}, {head: "WAIT"}}, rows)
	t.more(len(t.usages), textRows)
}

// members is the size of a communicator, or how many ranks use it if that is not known.
func (s *summary) members(u *usage) string {
	if u.communicator < 0 || s.Communicators[u.communicator].Size == 0 {
		return count(float64(u.ranks))
	}
	return count(float64(s.Communicators[u.communicator].Size))
}

func (t textOf) lateness() {
	if len(t.delays) == 0 {
		return
	}
	writeHead(t.out, "Who comes late")
	var rows [][]string
	for i := range t.delays[:min(textRows, len(t.delays))] {
		d := &t.delays[i]
		rows = append(rows, []string{t.rankName(d.last), seconds(d.late), count(d.calls), seconds(d.cost()), d.function, t.where(d.place)})
	}
	writeTable(t.out, []column{{head: "RANK"}, {head: "LATE BY"}, {head: "CALLS"}, {head: "IN ALL"}, {"FUNCTION", true, 20}, {"PLACE", true, 24}}, rows)
	t.more(len(t.delays), textRows)
	writeParagraph(t.out, "  ", "  ", latenessDefinition)
	if clocks := t.clocks(); clocks != "" {
		writeParagraph(t.out, "  ", "  ", clocks)
	}
}

const latenessDefinition = "By how much later than the mean of the members the latest rank enters, on average of all calls. In all is about how long an average member waits for it."

func (t textOf) notes() {
	if len(t.Notes) == 0 {
		return
	}
	writeHead(t.out, "What is missing or not exact")
	for _, note := range t.Notes {
		writeParagraph(t.out, "  - ", "    ", note)
	}
}
