// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/launch"
)

func launchOptions() []option {
	return []option{
		{names: []string{"launcher", "bootstrap"}, args: strings.Join(launch.Names, "|"), short: "what starts the proxies on other hosts",
			long: "Not given: that of the resource manager, else ssh, which must not ask for a password. manual prints a command for each host,\n" +
				"for others to run.",
			set: toWord(func(p *parser) *string { return &p.opts.Launch.Launcher }, launch.Names...)},
		{names: []string{"launcher-exec", "bootstrap-exec"}, args: "FILE", short: "the launcher's program, when it has another name",
			set: toText(func(p *parser) *string { return &p.opts.Launch.Exec })},
		{names: []string{"launcher-extra-args", "bootstrap-exec-extra-args"}, args: "ARGS", short: "more arguments for the launcher",
			long: "Spaces part them; quotes and backslashes keep spaces, as in a shell.",
			set:  toParsed(splitWords, func(p *parser) *[]string { return &p.opts.Launch.ExtraArgs })},
		{names: []string{"fanout"}, args: "N", short: "how many proxies one of them starts (default 32)",
			set: toParsed(positive, func(p *parser) *int { return &p.opts.Launch.Fanout })},
		{names: []string{"hybrid-hosts"}, short: "find mpiexec by PATH on each host, not by its path here",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Launch.Hybrid })},
		{names: []string{"enable-x"}, subject: "x", short: "forward X11, with ssh",
			set: func(p *parser, _ string) error { p.opts.Launch.X = "enable"; return nil }},
		{names: []string{"disable-x"}, subject: "x", short: "do not forward X11, with ssh",
			set: func(p *parser, _ string) error { p.opts.Launch.X = "disable"; return nil }},
	}
}

func pmiOptions() []option {
	return []option{
		{names: []string{"pmi"}, args: "auto|1|2|x", short: "the version that ranks speak (default auto)",
			long: "1 and 2 are told apart by their messages. Programs linked with Open MPI get x, which is PMIx, unless 1 or 2\n" +
				"says that theirs was built to speak it.",
			set: setPMIVersion},
		{names: []string{"pmi-port"}, short: "have ranks connect by TCP",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.PMI.Port })},
		{names: []string{"pmi-trace"}, short: "show every PMI message, on stderr",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.PMI.Trace })},
		{names: []string{"usize"}, args: "SYSTEM|INFINITE|N", short: "the universe size that ranks are told",
			set: setUniverse},
		{names: []string{"memory-alloc-kinds"}, args: "KINDS", short: "mpi_memory_alloc_kinds of the job",
			set: toText(func(p *parser) *string { return &p.opts.PMI.AllocKinds })},
		{names: []string{"pmi_args"}, args: "PORT IFACE KEY PID", values: 4, short: "serve a program that started alone; programs give it",
			set: setSingleton},
	}
}

func setPMIVersion(p *parser, v string) error {
	switch word := strings.ToLower(v); word {
	case "auto":
		return nil
	case "1", "2", "x":
		p.opts.PMI.Version = word
		return nil
	case "flux":
		return fmt.Errorf("mpiexec does not serve PMI %s; leave -pmi out, and run programs of MPICH or Open MPI", word)
	}
	return fmt.Errorf("%q is not one of auto, 1, 2, x", v)
}

func setUniverse(p *parser, v string) error {
	switch word := strings.ToUpper(v); word {
	case "SYSTEM", "INFINITE":
		p.opts.PMI.Universe = word
		return nil
	}
	p.opts.PMI.Universe = v
	if _, err := positive(v); err != nil {
		return fmt.Errorf("%q is not SYSTEM, INFINITE or a positive number", v)
	}
	return nil
}

func setSingleton(p *parser, v string) error {
	p.opts.PMI.Singleton = strings.Fields(v)
	if len(p.opts.PMI.Singleton) != 4 {
		return fmt.Errorf("%q is not a port, interface, key and process", v)
	}
	port, err := strconv.Atoi(p.opts.PMI.Singleton[0])
	if err != nil || port < 1 || port > 65535 {
		return fmt.Errorf("%q is not a port", p.opts.PMI.Singleton[0])
	}
	return nil
}
