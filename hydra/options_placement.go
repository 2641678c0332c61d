// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

func placementOptions() []option {
	place := func(field func(*PlacementOptions) *string) func(*parser) *string {
		return func(p *parser) *string { return field(&p.opts.Placement) }
	}
	return []option{
		{names: []string{"bind-to", "binding"}, args: "OBJECT[:N]|rr|user:LIST|none", short: "give each rank its own CPUs",
			long: "Deals out the allowed CPUs by objects, N to each rank, and starts over when all are taken:\n" +
				"  machine, numa, socket, core, hwthread\n" +
				"  l1cache ... l5cache, l1icache ...   what shares a cache\n" +
				"  gpu, ib, en, hfi, hsn               the CPUs near each such device; gpu1, ib0: near one\n" +
				"  pci:41:00.0                         the CPUs near the device at an address\n" +
				"  rr                                  CPUs by their numbers\n" +
				"user:0+2,4-7 gives CPUs 0 and 2 to the host's first rank, 4 to 7 to its second one; 1x3 stands for 1,1,1.\n" +
				"Ranks that the list does not reach are not bound.",
			set: toParsed(ParseBinding, func(p *parser) *Binding { return &p.opts.Placement.Bind })},
		{names: []string{"map-by"}, args: "OBJECT[:N]", short: "go round these objects with the ranks of -bind-to",
			long: "-bind-to core -map-by numa gives each NUMA node a rank before any gets two. Not given: the object of -bind-to.",
			set:  toParsed(ParseMapping, func(p *parser) *Binding { return &p.opts.Placement.MapBy })},
		{names: []string{"membind"}, args: "POLICY", short: "where the ranks' memory comes from",
			set: toText(place(func(o *PlacementOptions) *string { return &o.MemBind }))},
		{names: []string{"report-bindings"}, short: "say where each rank runs, on stderr",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Placement.Report })},
		{names: []string{"gpus-per-proc", "g"}, args: "auto|N", short: "GPUs for each rank",
			set: toCount(place(func(o *PlacementOptions) *string { return &o.GPUs }))},
		{names: []string{"gpu-subdevs-per-proc"}, args: "auto|N", short: "parts of GPUs for each rank",
			set: toCount(place(func(o *PlacementOptions) *string { return &o.SubGPUs }))},
		{names: []string{"nics"}, args: "none|near", short: "network cards for each rank",
			set: toWord(place(func(o *PlacementOptions) *string { return &o.NICs }), "none", "near")},
	}
}
