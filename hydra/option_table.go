// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An option is one row of the command line's table; parsing and help both follow it.
type option struct {
	names []string // the first one is used in messages
	args  string   // its arguments as help shows them; "" for a flag
	local bool     // belongs to its segment
	many  bool     // may be given again with another value
	short string   // one line of -help
	long  string   // the rest of -OPTION -h
	set   func(*parser, string) error
}

// optionTable lists every option. Names compare without regard to case and to the number of dashes.
var optionTable []option

// The table's functions refer to the table, which Go allows only from init.
func init() {
	optionTable = []option{
		{names: []string{"n", "np"}, args: "N", local: true, short: "number of ranks (default 1)",
			long: "Counts ranks, not processes. 0 and -1 count as not given.",
			set:  setRanks},
		{names: []string{"rpp", "ranks-per-process"}, args: "K", local: true, short: "ranks in one process (default 1)",
			long: "The ranks of a segment on one host are cut, in rank order, into sets of K; the last set takes the rest.\n" +
				"K > 1 needs a program linked with libtpsl (tpslcc), whose threads become the ranks, or one linked\n" +
				"with MPICH, which then runs once per rank in one address space.",
			set: setPerProcess},
		{names: []string{"tpsl"}, args: "shared|private|auto", local: true, short: "how the ranks of one process share it",
			long: "auto decides by the libraries the program needs; shared is for a program linked with MPICH whose\n" +
				"threads call MPI_Init, for a script that starts one, and for a program that opens the MPI library\n" +
				"later: no RPATH behind these two may lead to another MPI library;\n" +
				"private makes a copy of the program for each rank.",
			set: setMode},
		{names: []string{"env"}, args: "NAME VALUE | NAME=VALUE", local: true, many: true, short: "set a variable for this segment",
			long: "Wins over -genv and over the inherited environment.",
			set:  func(p *parser, v string) error { p.segment.Env = append(p.segment.Env, v); return nil }},
		{names: []string{"wdir"}, args: "DIR", local: true, short: "working directory of the ranks",
			set: func(p *parser, v string) error { p.segment.Wdir = v; return nil }},
		{names: []string{"genv"}, args: "NAME VALUE | NAME=VALUE", many: true, short: "set a variable for all segments",
			set: func(p *parser, v string) error { p.opts.Env = append(p.opts.Env, v); return nil }},
		{names: []string{"genvlist"}, args: "NAME,...", short: "pass on only these variables",
			long: "The login variables " + strings.Join(loginVariables, " ") + " are passed on in any case.",
			set:  func(p *parser, v string) error { p.opts.Inherit = strings.Split(v, ","); return nil }},
		{names: []string{"l", "prepend-rank"}, short: "put [rank] before each line of output",
			long: "Ranks of one process share a label: [4-7].",
			set:  func(p *parser, _ string) error { p.opts.Stdio.Label = LabelPattern; return nil }},
		{names: []string{"bind-to"}, args: "none|core[:N]|hwthread[:N]|user:LIST", short: "give each rank its own CPUs",
			long: "core and hwthread deal out the allowed cores and hardware threads in turn, N to each rank.\n" +
				"user:0+2,1+3 gives CPUs 0 and 2 to the host's first rank, 1 and 3 to its second, and starts over.",
			set: func(p *parser, v string) (err error) { p.opts.Placement.Bind, err = ParseBinding(v); return err }},
		{names: []string{"timeout"}, args: "SECONDS", short: "end the job after this time",
			long: "The environment variable MPIEXEC_TIMEOUT does the same.",
			set:  func(p *parser, v string) (err error) { p.opts.Timeout, err = parseTimeout(v); return err }},
		{names: []string{"v", "verbose"}, short: "trace what is launched, and the PMI messages, on stderr",
			set: func(p *parser, _ string) error { p.opts.Verbose = true; return nil }},
		{names: []string{"h", "help"}, short: "show this help; after an option, the help of that option",
			set: func(p *parser, _ string) error { p.opts.Action = ActionHelp; return nil }},
		{names: []string{"version", "info"}, short: "show version and build details",
			set: func(p *parser, _ string) error { p.opts.Action = ActionVersion; return nil }},
	}
}

func setRanks(p *parser, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < -1 || n > maxRanks {
		return fmt.Errorf("%q is not a number of ranks from 1 to %d", v, maxRanks)
	}
	p.segment.Ranks = max(n, 0)
	return nil
}

func setPerProcess(p *parser, v string) error {
	switch strings.ToLower(v) {
	case "node", "numa", "socket", "core":
		return fmt.Errorf("%s is not supported yet; give a number", v)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a positive number", v)
	}
	p.segment.PerProcess = n
	return nil
}

func setMode(p *parser, v string) error {
	switch mode := Mode(strings.ToLower(v)); mode {
	case ModeAuto, ModeShared, ModePrivate:
		p.segment.Mode = mode
		return nil
	}
	return fmt.Errorf("%q is not one of shared, private, auto", v)
}

func parseTimeout(v string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(v, 64)
	const most = 100 * 365 * 24 * 3600
	if err != nil || !(seconds > 0 && seconds < most) {
		return 0, fmt.Errorf("%q is not a positive number of seconds", v)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
