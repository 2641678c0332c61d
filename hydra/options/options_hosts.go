// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/shellwords"
)

func hostOptions() []option {
	return []option{
		{names: []string{"hosts", "host", "hostlist", "hosts-group", "machine", "machines", "machinelist"}, args: "HOST[:N],...", subject: "hosts",
			short: "hosts to run on, with their slots",
			long: "A name may have ranges: node[01-03,7]:4. A host that is named again gets more slots.\n" +
				"The list holds for all segments; a later segment may have one of its own.",
			set: setHosts},
		{names: []string{"f", "hostfile", "machinefile"}, args: "FILE", subject: "hosts", short: "a file with a line HOST[:N] for each host",
			long: "After the host may follow user=NAME and binding=WHAT, as for -bind-to. # begins a comment.",
			set:  toText(func(p *parser) *string { return &p.opts.Hosts.File })},
		{names: []string{"ppn", "perhost", "grr"}, args: "N", subject: "ppn", short: "slots of every host, whatever the list or file says",
			set: toParsed(positive, func(p *parser) *int { return &p.opts.Hosts.PPN })},
		{names: []string{"rr"}, subject: "ppn", short: "deal ranks out one by one: -ppn 1",
			set: func(p *parser, _ string) error { p.opts.Hosts.PPN = 1; return nil }},
		{names: []string{"rankmap"}, args: "HOST,...|(vector,...)", short: "the host of each rank, by its index in the list of hosts",
			long: "-rankmap 0,1,1,0 puts ranks 0 and 3 on the first host. The long form is that of PMI_process_mapping:\n" +
				"(vector,(first host,hosts,ranks on each),...).",
			set: toText(func(p *parser) *string { return &p.opts.Hosts.RankMap })},
		{names: []string{"print-rank-map"}, short: "show which rank runs where, on stderr",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Hosts.PrintRankMap })},
		{names: []string{"order-nodes"}, args: "up|down|ascending|descending", short: "sort the hosts by their slots",
			set: setOrder},
		{names: []string{"skip-launch-node", "nolocal"}, short: "no rank on this host",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Hosts.SkipLaunchNode })},
		{names: []string{"rmk"}, args: "user|slurm|ll|lsf|sge|pbs|cobalt|flux", short: "the resource manager that names the hosts",
			long: "It is found out by its variables when no hosts are given; user asks none.",
			set:  toWord(func(p *parser) *string { return &p.opts.Hosts.RMK }, resourceManagers...)},
		{names: []string{"iface"}, args: "NAME", short: "the network interface that ranks use",
			long: "The host names are then not passed on.",
			set:  toText(func(p *parser) *string { return &p.opts.Hosts.Iface })},
		{names: []string{"localhost"}, args: "NAME", short: "how this host is called in lists of hosts",
			set: toText(func(p *parser) *string { return &p.opts.Hosts.LocalName })},
		{names: []string{"enable-hostname-propagation"}, subject: "hostname-propagation", short: "tell the ranks their host's name (default)",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Hosts.PropagateName })},
		{names: []string{"disable-hostname-propagation"}, subject: "hostname-propagation", short: "let MPI find the host's name itself",
			set: toFlag(false, func(p *parser) *bool { return &p.opts.Hosts.PropagateName })},
	}
}

// resourceManagers lists what -rmk takes.
var resourceManagers = []string{"user", "slurm", "ll", "lsf", "sge", "pbs", "cobalt", "flux"}

// setHosts sets the list of all segments. A later segment that gives another list gets a list of its own.
func setHosts(p *parser, v string) error {
	list := &p.opts.Hosts.List
	if *list != "" && *list != v {
		list = &p.segment.Hosts
	}
	return toText(func(*parser) *string { return list })(p, v)
}

// setOrder accepts every word that Hydra accepts.
func setOrder(p *parser, v string) error {
	err := toWord(func(p *parser) *string { return &p.opts.Hosts.Order }, "up", "down", "ascending", "descending")(p, v)
	switch p.opts.Hosts.Order {
	case "ascending":
		p.opts.Hosts.Order = "up"
	case "descending":
		p.opts.Hosts.Order = "down"
	}
	return err
}

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
			set:  toParsed(shellwords.Split, func(p *parser) *[]string { return &p.opts.Launch.ExtraArgs })},
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
		return fmt.Errorf("%q is not SYSTEM, INFINITE or a number from 1 to %d", v, plan.MaxRanks)
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
		return fmt.Errorf("%q is not a port from 1 to 65535", p.opts.PMI.Singleton[0])
	}
	return nil
}
