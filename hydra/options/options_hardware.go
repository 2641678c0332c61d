// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
)

func hardwareOptions() []option {
	hardware := func(field func(*plan.HardwareOptions) *string) func(*parser) *string {
		return func(p *parser) *string { return field(&p.opts.Hardware) }
	}
	return []option{
		{names: []string{"bind-to", "binding"}, args: "core|hwthread|numa|socket|machine|l2cache|l3cache|gpu|ib|rr|none|...", short: "give each rank its own CPUs",
			long: "Deals out the allowed CPUs by objects, as core, or N to each rank, as core:2, and starts over when all are taken:\n" +
				"  machine, numa, socket, core, hwthread\n" +
				"  l1cache ... l5cache, l1icache ...   what shares a cache\n" +
				"  gpu, ib, en, hfi, hsn               the CPUs near each such device; gpu1, ib0: near one\n" +
				"  pci:41:00.0                         the CPUs near the device at an address\n" +
				"  rr                                  CPUs by their numbers\n" +
				"user:0+2,4-7 gives CPUs 0 and 2 to the host's first rank, 4 to 7 to its second one; 1x3 stands for 1,1,1.\n" +
				"Ranks that the list does not reach are not bound.",
			set: toParsed(plan.ParseBinding, func(p *parser) *plan.Binding { return &p.opts.Hardware.Bind })},
		{names: []string{"map-by"}, args: "core|hwthread|numa|socket|machine|l2cache|l3cache|gpu|ib|...", short: "go round these objects with the ranks of -bind-to",
			long: "-bind-to core -map-by numa gives each NUMA node a rank before any gets two. Not given: the object of -bind-to.\n" +
				"Without -bind-to it has no effect.",
			set: setMapping},
		{names: []string{"membind"}, args: "firsttouch|bind|interleave|none|...", short: "the NUMA nodes that the ranks' memory comes from",
			long: "bind:0,2 and interleave:0-3 name nodes. Else bind means the nodes of the CPUs that the process is bound to, interleave all.",
			set:  toParsed(plan.ParseMemBinding, func(p *parser) *plan.MemBinding { return &p.opts.Hardware.MemBind })},
		{names: []string{"report-bindings"}, short: "say where each rank runs, on stderr",
			set: toFlag(true, func(p *parser) *bool { return &p.opts.Hardware.Report })},
		{names: []string{"gpus-per-proc", "g"}, args: "auto|N", short: "GPUs for each rank",
			long: "N of its own, those near its CPUs first, by CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ZE_AFFINITY_MASK. 0 hides them all;\n" +
				"auto, as when it is not given, leaves them all to all ranks.",
			set: toCount(hardware(func(o *plan.HardwareOptions) *string { return &o.GPUs }))},
		{names: []string{"gpu-subdevs-per-proc"}, args: "auto|N", short: "parts of GPUs for each rank",
			long: "Only auto, which leaves that to the GPU library: /sys does not tell the parts. ZE_AFFINITY_MASK names them.",
			set:  setSubGPUs},
		{names: []string{"nics"}, args: "none|near", short: "network cards for each rank",
			long: "near sets UCX_NET_DEVICES to one card that is near the rank's CPUs, where there are several, the ranks of a process to\n" +
				"different ones. What the user has set stays. tpsl nic lists the cards.",
			set: toWord(hardware(func(o *plan.HardwareOptions) *string { return &o.NICs }), "none", "near")},
	}
}

func setMapping(p *parser, v string) (err error) {
	p.opts.Hardware.MapBy, err = plan.ParseMapping(v)
	return explainMapping(v, err)
}

func setSubGPUs(_ *parser, v string) error {
	if !strings.EqualFold(v, "auto") {
		return fmt.Errorf("%s: mpiexec cannot tell the parts of GPUs; use auto and name them in ZE_AFFINITY_MASK", v)
	}
	return nil
}
