// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/process/limits"
)

// judgeRanks judges what limits the ranks of one process.
func judgeRanks(f Facts) (found []Finding) {
	l := f.Limits
	if l.AddressSpace >= 0 && l.AddressSpace.mib() < limits.AddressMiB {
		return []Finding{{Error, "RLIMIT_AS", l.AddressSpace.size(), fmt.Sprintf("%d MiB to start at all", limits.AddressMiB),
			"raise it: ulimit -v unlimited"}}
	}
	for _, r := range []struct {
		subject, value string
		ranks          Limit
		resource       limits.Resource
		need, raise    string // formats: how much is needed, and how to raise the limit
	}{
		{"RLIMIT_NOFILE", l.FilesHard.String(), l.RanksByFiles, limits.Files, "%d", "raise the hard limit: ulimit -n %d"},
		{"vm.max_map_count", l.MaxMapCount.String(), l.RanksByMaps, limits.Maps, "%d", "raise it: sysctl vm.max_map_count=%d"},
		{"RLIMIT_AS", l.AddressSpace.size(), l.RanksByAddress, limits.Address, "%d MiB", "raise it: ulimit -v $((%d*1024))"},
	} {
		cpus := f.System.cpus()
		if r.ranks < 0 || uint64(r.ranks) >= cpus {
			continue
		}
		severity := Warning
		if r.ranks == 0 {
			severity = Error
		}
		need := r.resource.Need(cpus)
		found = append(found, Finding{
			severity, r.subject, fmt.Sprintf("%s, for about %s in a process", r.value, counted(int(r.ranks), "rank")),
			fmt.Sprintf("about "+r.need+" for one on each of %s", need, counted(int(cpus), "CPU")),
			fmt.Sprintf(r.raise, 2*need) + ", or use a smaller -rpp",
		})
	}
	return found
}

// cpus returns the number of CPUs. It is also the number of ranks that is judged, because users usually start one rank per CPU.
func (s System) cpus() uint64 { return uint64(max(s.CPUsAllowed, 1)) }

// judgeShm judges /dev/shm. When that file system is full, a rank that writes there gets SIGBUS.
func judgeShm(f Facts) []Finding {
	l, cpus := f.Limits, f.System.cpus()
	switch {
	case l.ShmSize == Unknown:
		return []Finding{{Warning, "/dev/shm", "is not there", "a tmpfs", "mount one: ranks of different processes share memory there"}}
	case l.RanksByShm >= 0 && uint64(l.RanksByShm) < cpus:
		return []Finding{{
			Warning, "/dev/shm", fmt.Sprintf("%s free of %s", l.ShmFree.size(), l.ShmSize.size()),
			fmt.Sprintf("about %d MiB for a rank on each of %s", limits.Shm.Need(cpus), counted(int(cpus), "CPU")),
			"remove what is left there, or make it larger (containers: --shm-size)",
		}}
	}
	return nil
}

// judgeCrossMemory judges process_vm_readv, by which large messages go between processes.
func judgeCrossMemory(l Limits) []Finding {
	if l.CrossMemory == crossMemoryWorks {
		return nil
	}
	if strings.HasPrefix(l.CrossMemory, crossMemoryNotTried) {
		return []Finding{{Note, "process_vm_readv", l.CrossMemory, "", "without it large messages between processes are copied twice"}}
	}
	var remedies []string
	if l.PtraceScope > 1 {
		remedies = append(remedies, "sysctl kernel.yama.ptrace_scope=1")
	}
	if l.Seccomp > 0 {
		remedies = append(remedies, fmt.Sprintf("allow it in the seccomp filter (mode %d; containers: --cap-add SYS_PTRACE)", l.Seccomp))
	}
	if remedies == nil {
		remedies = append(remedies, "use a larger -rpp: ranks of one process do not need it")
	}
	return []Finding{{Warning, "process_vm_readv", l.CrossMemory, "it, or large messages between processes are copied twice", strings.Join(remedies, "; ")}}
}

// judgeLibc judges what the C library lacks, and what the user asks of it that libtpsl is not made for.
func judgeLibc(f Facts) (found []Finding) {
	if slices.Contains(f.System.LibcLacks, "_dl_find_object") {
		found = append(found, Finding{Note, "glibc", "lacks _dl_find_object, which came with version 2.35", "",
			"gdb does not show the libraries of instances, and the report of a crash names functions of instances only"})
	}
	if f.System.ShadowStacks && slices.ContainsFunc(f.Environment, asksForShadowStacks) {
		found = append(found, Finding{Note, "GLIBC_TUNABLES", "asks for shadow stacks, for which Go's code in libtpsl is not made", "",
			"ld.so runs programs that are linked with libtpsl without them, and does not open libtpsl in a program that has them"})
	}
	return found
}

// asksForShadowStacks reports whether an entry of the environment is the tunable of glibc that turns shadow stacks on.
func asksForShadowStacks(entry string) bool {
	tunables, ok := strings.CutPrefix(entry, "GLIBC_TUNABLES=")
	if !ok {
		return false
	}
	for tunable := range strings.SplitSeq(tunables, ":") {
		name, values, _ := strings.Cut(tunable, "=")
		switch name {
		case "glibc.cpu.x86_shstk":
			return values == "on"
		case "glibc.cpu.hwcaps":
			return slices.Contains(strings.Split(values, ","), "SHSTK")
		}
	}
	return false
}

// judgeMachine judges what networks, debuggers and profilers need.
func judgeMachine(f Facts) (found []Finding) {
	l, s := f.Limits, f.System
	for _, port := range f.RDMA {
		if port.Trouble != "" {
			found = append(found, Finding{Warning, "RDMA port " + port.Name, port.Trouble, "", port.Remedy})
		}
	}
	if l.Core == 0 {
		found = append(found, Finding{Note, "RLIMIT_CORE", "0: a crash leaves no core", "", "to get one: ulimit -c unlimited"})
	}
	if l.PerfEventParanoid > 2 && !s.Root {
		found = append(found, Finding{Note, "kernel.perf_event_paranoid", l.PerfEventParanoid.String() + ": perf is for root only", "",
			"to use it: sysctl kernel.perf_event_paranoid=2"})
	}
	if l.PtraceScope > 0 && !s.Root {
		found = append(found, Finding{Note, "kernel.yama.ptrace_scope", l.PtraceScope.String() + ": gdb -p is for root only", "",
			"to attach: sysctl kernel.yama.ptrace_scope=0"})
	}
	return found
}
