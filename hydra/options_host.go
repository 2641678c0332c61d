// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

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

// setHosts sets the list of all segments, or in a later segment that has another one, its own.
func setHosts(p *parser, v string) error {
	list := &p.opts.Hosts.List
	if *list != "" && *list != v {
		list = &p.segment.Hosts
	}
	return toText(func(*parser) *string { return list })(p, v)
}

// setOrder takes every word that Hydra does.
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
