// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/plan"
)

// loginNote says which variables ranks always get, whatever the lists say.
var loginNote = "The login variables " + strings.Join(plan.LoginVariables, " ") + " are passed on in any case."

func environmentOptions() []option {
	return []option{
		{names: []string{"genv"}, args: "NAME VALUE | NAME=VALUE", many: true, short: "set a variable for all segments",
			set: func(p *parser, v string) error { p.opts.Env = append(p.opts.Env, v); return nil }},
		{names: []string{"genvlist"}, args: "NAME,...", subject: "genvall", short: "pass on only these variables",
			long: loginNote,
			set:  func(p *parser, v string) error { p.inherit = strings.Split(v, ","); return nil }},
		{names: []string{"genvnone"}, subject: "genvall", short: "pass on no variable",
			long: loginNote,
			set:  func(p *parser, _ string) error { p.inherit = []string{}; return nil }},
		{names: []string{"genvall"}, subject: "genvall", short: "pass on all variables (default)",
			set: func(p *parser, _ string) error { p.inherit = nil; return nil }},
	}
}

func stdioOptions() []option {
	const patternNote = "%r is the rank, %h the host, %p the number of its proxy, %g that of the process group,\n" +
		"%t the seconds since the job began, %% a percent sign."
	return []option{
		{names: []string{"l", "prepend-rank"}, subject: "label", short: "put [rank] before each line of output",
			long: "Ranks of one process share a label: [4-7].",
			set:  func(p *parser, _ string) error { p.opts.Stdio.Label = plan.LabelPattern; return nil }},
		{names: []string{"prepend-pattern"}, args: "PATTERN", subject: "label", short: "put this before each line of output",
			long: patternNote, set: toParsed(plan.ParsePattern, func(p *parser) *plan.Pattern { return &p.opts.Stdio.Label })},
		{names: []string{"outfile-pattern", "outfile"}, args: "PATTERN", short: "write stdout to files of this name",
			long: patternNote, set: toParsed(plan.ParsePattern, func(p *parser) *plan.Pattern { return &p.opts.Stdio.OutFile })},
		{names: []string{"errfile-pattern", "errfile"}, args: "PATTERN", short: "write stderr to files of this name",
			long: patternNote, set: toParsed(plan.ParsePattern, func(p *parser) *plan.Pattern { return &p.opts.Stdio.ErrFile })},
		{names: []string{"output-from"}, args: "RANKS", short: "show the output of these ranks only, like 0,4-7",
			set: toParsed(plan.ParseRanks, func(p *parser) *plan.Ranks { return &p.opts.Stdio.From })},
		{names: []string{"stdin", "s"}, args: "none|all|RANKS", short: "the ranks that get standard input (default 0)",
			long: "The others read /dev/null.",
			set:  toParsed(plan.ParseRanks, func(p *parser) *plan.Ranks { return &p.opts.Stdio.Stdin })},
	}
}

func exitOptions() []option {
	return []option{
		{names: []string{"timeout"}, args: "SECONDS", short: "end the job after this time",
			long: "The ranks get SIGTERM, and are killed 2 s later. Lines on stderr say where each of them was, as far as PMI shows it.\n" +
				"The environment variable MPIEXEC_TIMEOUT does the same.",
			set: toParsed(parseTimeout, func(p *parser) *time.Duration { return &p.opts.Timeout })},
		{names: []string{"state"}, short: "ranks note which MPI calls they are in, for tpsl where and tpsl top",
			long: "A library in front of each rank's MPI library notes the calls that can wait for other ranks. tpsl where PID, -timeout, and\n" +
				"SIGQUIT to mpiexec then say which call each rank is in, and name deadlocks. SIGQUIT does not go to the ranks then.\n" +
				"The environment variable TPSL_STATE=1 does the same.",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.State.Noted })},
		{names: []string{"hang-report"}, args: "SECONDS", short: "say where the ranks are when none has moved for so long",
			long: "It is said once for each standstill, on stderr, and the job goes on. It implies -state.",
			set:  toParsed(parseTimeout, func(p *parser) *time.Duration { return &p.opts.State.HangAfter })},
		{names: []string{"profile"}, args: "[=FILE]", short: "write what ranks did in MPI to FILE.json and a page to FILE.html",
			long: "A library in front of each rank's MPI library counts its calls: how often, how long, from which line, how many bytes, to whom.\n" +
				"FILE is " + plan.ProfileFile + " unless given. tpsl report shows the file as text, and compares two. It implies -state.\n" +
				"The environment variable TPSL_PROFILE=FILE does the same.",
			set: setProfile},
		{names: []string{"exit-code"}, args: "or|first|max|128+sig", short: "how the ranks' exit codes become one",
			long: "or, the default: all codes or-ed together, or the number of the signal that ended the first rank that was killed;\n" +
				"first: that of the first rank that failed; max: the largest;\n" +
				"128+sig: all or-ed together. Under these three a signal counts as in a shell, 128 and its number.",
			set: toParsed(plan.ParseExitRule, func(p *parser) *plan.ExitRule { return &p.opts.Exit.Code })},
		{names: []string{"print-all-exitcodes"}, short: "show the exit code of every rank",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Exit.PrintAll })},
		{names: []string{"banner"}, args: "line|hydra", short: "how a crash is reported: in a line, or as Hydra does",
			long: "line, the default: a line with rank, program, host and signal, and where it is known, a second one with what to do.\n" +
				"hydra: the lines of Hydra, for scripts that search for them, with the last lines on stderr. It is the default with\n" +
				"-verbose, and so with HYDRA_DEBUG=1. The environment variable TPSL_BANNER does the same.",
			set: toParsed(plan.ParseBanner, func(p *parser) *plan.Banner { return &p.opts.Exit.Banner })},
		{names: []string{"report"}, args: "FILE", short: "write to this file how the job ended, as JSON",
			set: toText(func(p *parser) *string { return &p.opts.Exit.Report })},
		{names: []string{"silent-abort"}, short: "no report of ranks that failed",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Exit.Silent })},
		{names: []string{"disable-auto-cleanup"}, subject: "auto-cleanup", short: "the death of a rank does not end the others",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Exit.KeepRunning })},
		{names: []string{"enable-auto-cleanup"}, subject: "auto-cleanup", short: "the death of a rank ends the job (default)",
			set: toFlag(false, func(p *parser) *bool { return &p.opts.Exit.KeepRunning })},
		{names: []string{"gdb"}, args: "RANKS", short: "start these ranks under gdb",
			long: "Standard input then goes to them, unless -stdin says otherwise: type run.\n" +
				"Ctrl-C goes to them alone, and twice does not end the job.",
			set: setDebugger},
		{names: []string{"gtool"}, args: "COMMAND:RANKS[;...]", short: "start these ranks by a command, like 'strace -f:0,2-3'",
			long: "The program and its arguments are added to the command. all stands for every rank.",
			set:  setTools},
	}
}

func actionOptions() []option {
	return []option{
		{names: []string{"v", "verbose", "debug"}, short: "trace what is launched, and the PMI messages, on stderr",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Verbose })},
		{names: []string{"configfile"}, args: "FILE", typed: true, short: "programs, a line for each, and options from this file",
			long: "A line is like a command line without mpiexec; one that ends in \\ goes on in the next, # begins a comment, quotes and\n" +
				"backslashes keep spaces. The options of a line without a program hold for all programs. The command line wins\n" +
				"over the file, the file over the environment. Without this option the file is the one that HYDRA_CONFIG_FILE names,\n" +
				"else ~/.mpiexec.hydra.conf, else etc/mpiexec.hydra.conf in the folder that mpiexec's bin is in (/etc for /usr/bin).",
			set: ignore},
		{names: []string{"h", "help"}, typed: true, short: "a short help; -h all: all options; -OPTION -h: one",
			set: func(p *parser, _ string) error { p.opts.Action = ActionHelp; return nil }},
		{names: []string{"version", "info"}, typed: true, short: "show version and build details",
			set: func(p *parser, _ string) error { p.opts.Action = ActionVersion; return nil }},
	}
}

// ignore is the setter of options that have no effect, or that are looked up later among the options that were given.
func ignore(*parser, string) error { return nil }

// ignoredOptions are accepted for scripts that are written for Hydra or Open MPI, or follow the MPI standard.
func ignoredOptions() []option {
	const note = "Accepted, and without effect here."
	return []option{
		{names: []string{"initial-errhandler"}, args: "NAME", short: "error handler at first: what MPI has for all", long: note, set: ignore},
		{names: []string{"nameserver"}, args: "HOST[:PORT]", short: "a server of published names: each job has its own", long: note, set: ignore},
		{names: []string{"arch"}, args: "NAME", short: "architecture: that of this host", long: note, set: ignore},
		{names: []string{"demux"}, args: "NAME", short: "how Hydra waits for input", long: note, set: ignore},
		{names: []string{"topolib"}, args: "NAME", short: "the library that tells Hydra about CPUs", long: note, set: ignore},
		{names: []string{"oversubscribe"}, short: "more ranks than slots, as Open MPI allows it: in any case", long: note, set: ignore},
		{names: []string{"allow-run-as-root"}, short: "run as root, as Open MPI allows it: in any case", long: note, set: ignore},
	}
}

func setTools(p *parser, v string) error {
	tools, err := plan.ParseTools("gtool", v)
	p.opts.Tools = append(p.opts.Tools, tools...)
	return err
}

func setDebugger(p *parser, v string) error {
	tool, err := plan.ParseDebugger(v)
	p.opts.Tools = append(p.opts.Tools, tool)
	return err
}
