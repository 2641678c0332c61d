// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
)

func segmentOptions() []option {
	return []option{
		{names: []string{"n", "np"}, args: "N", short: "number of ranks (default: all slots of hosts, or 1)",
			long: "Counts ranks, not processes. At least 1: leave it out for all slots of the hosts.",
			set:  setRanks},
		{names: []string{"rpp", "ranks-per-process"}, args: "K|node|numa|socket|core", short: "ranks in one process (default 1)",
			long: "The ranks of a segment on one host are cut, in rank order, into sets of K; the last set takes the rest.\n" +
				"With a word in place of K a set ends where the ranks' binding leaves that part of the machine; -bind-to core\n" +
				"is then the default.\n" +
				"More than one rank needs a program linked with libtpsl (tpslcc), whose threads become the ranks, or one linked\n" +
				"with MPICH or Open MPI, which then runs once per rank in one address space.",
			set: setPerProcess},
		{names: []string{"tpsl"}, args: "shared|private|auto", short: "how the ranks of one process share it",
			long: "auto decides by the libraries the program needs; shared is for a program linked with MPICH whose\n" +
				"threads call MPI_Init, for a script that starts one, and for a program that opens the MPI library\n" +
				"later: no RPATH behind these two may lead to another MPI library;\n" +
				"private makes a copy of the program for each rank.",
			set: setMode},
		{names: []string{"progress"}, args: "own|neighbours", short: "which rank lets a computing rank's MPI work",
			long: "neighbours: a rank that waits lets the MPI libraries of the other ranks of its process work while they compute.\n" +
				"For a program whose threads are ranks. The environment variable TPSL_PROGRESS does the same.",
			set: setProgress},
		{names: []string{"wdir"}, args: "DIR", short: "working directory of the ranks",
			set: toText(func(p *parser) *string { return &p.segment.Wdir })},
		{names: []string{"path"}, args: "DIRS", short: "where the program is looked for, before PATH",
			long: "Folders with colons between them.",
			set:  toText(func(p *parser) *string { return &p.segment.Path })},
		{names: []string{"soft"}, args: "LIST", short: "numbers of ranks that will do as well",
			long: "Numbers and ranges FIRST:LAST[:STEP] with commas between them, as in the MPI standard. The job gets the\n" +
				"largest of them that is not above -n, and without -n the largest.",
			set: setSoft},
		{names: []string{"file"}, args: "FILE", many: true, short: "more options of this segment from a file",
			long: "Written as for -configfile, but without a program.",
			set:  setFile},
		{names: []string{"env"}, args: "NAME VALUE | NAME=VALUE", many: true, short: "set a variable for this segment",
			long: "Wins over -genv and over the inherited environment.",
			set:  func(p *parser, v string) error { p.segment.Env = append(p.segment.Env, v); return nil }},
		{names: []string{"envlist"}, args: "NAME,...", subject: "envall", short: "pass on only these variables to this segment",
			long: "Wins over -genvlist, -genvnone and -genvall. " + loginNote,
			set:  func(p *parser, v string) error { p.segment.Inherit = strings.Split(v, ","); return nil }},
		{names: []string{"envnone"}, subject: "envall", short: "pass on no variable to this segment",
			long: loginNote,
			set:  func(p *parser, _ string) error { p.segment.Inherit = []string{}; return nil }},
		{names: []string{"envall"}, subject: "envall", short: "pass on all variables to this segment",
			set: func(p *parser, _ string) error { p.segment.Inherit = nil; return nil }},
	}
}

func setRanks(p *parser, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > plan.MaxRanks {
		return fmt.Errorf("%q is not a number of ranks from 1 to %d", v, plan.MaxRanks)
	}
	p.segment.Ranks = n
	return nil
}

func setProgress(p *parser, v string) error {
	word := strings.ToLower(v)
	if word != "own" && word != "neighbours" {
		return fmt.Errorf("%q is not own or neighbours", v)
	}
	p.segment.Env = append(p.segment.Env, "TPSL_PROGRESS="+word)
	return nil
}

func setPerProcess(p *parser, v string) error {
	switch word := strings.ToLower(v); word {
	case "node", "numa", "socket", "core":
		p.segment.PerObject = word
		return nil
	}
	n, err := positive(v)
	if err != nil {
		return fmt.Errorf("%q is not a number from 1 to %d, node, numa, socket or core", v, plan.MaxRanks)
	}
	p.segment.PerProcess = n
	return nil
}

func setMode(p *parser, v string) error {
	switch mode := plan.Mode(strings.ToLower(v)); mode {
	case plan.ModeAuto, plan.ModeShared, plan.ModePrivate:
		p.segment.Mode = mode
		return nil
	}
	return fmt.Errorf("%q is not one of shared, private, auto", v)
}

// A softList is the value of -soft: numbers first, first+step ... up to last (MPI-4.0, section 11.5, "Starting Processes").
type softList [][3]int

func setSoft(p *parser, v string) error {
	var list softList
	for part := range strings.SplitSeq(v, ",") {
		triplet := [3]int{0, 0, 1}
		fields := strings.Split(part, ":")
		for i, field := range fields {
			n, err := strconv.Atoi(field)
			if err != nil || len(fields) > 3 || n < 0 || n > plan.MaxRanks || i == 2 && n == 0 {
				return fmt.Errorf("%q is not a number from 0 to %d or a range FIRST:LAST:STEP of such", part, plan.MaxRanks)
			}
			triplet[i] = n
		}
		if len(fields) == 1 {
			triplet[1] = triplet[0]
		}
		list = append(list, triplet)
	}
	p.state.soft = list
	return nil
}

// most returns the largest number of the list that is not above limit. A limit of 0 is no limit.
func (s softList) most(limit int) (int, error) {
	best := 0
	for _, t := range s {
		last := t[1]
		if limit > 0 {
			last = min(last, limit)
		}
		if last >= t[0] {
			best = max(best, t[0]+(last-t[0])/t[2]*t[2])
		}
	}
	switch {
	case best > 0:
		return best, nil
	case limit > 0:
		return 0, fmt.Errorf("option -soft: no number of the list is from 1 to %d", limit)
	}
	return 0, errors.New("option -soft: no number of the list is above 0")
}
