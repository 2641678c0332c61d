// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
)

// Print writes a report for people: the verdict, the findings, and then parts with lines of a name and a value. With
// colour it has the escape sequences of a terminal.
func (r Report) Print(w io.Writer, colour bool) {
	p := printer{w, colour}
	p.verdict(r)
	p.findings(r.Findings)
	p.system(r.System)
	p.limits(r.Limits)
	p.libraries(r.Facts)
	p.installation(r.Installation)
	p.part("Environment")
	for _, entry := range r.Environment {
		fmt.Fprintln(w, " ", entry)
	}
	if len(r.Environment) == 0 {
		fmt.Fprintln(w, "  nothing that MPI or tpsl reads")
	}
}

type printer struct {
	io.Writer
	colour bool
}

// The escape sequences of the colours, which are bold so that they stand out on any background.
const (
	red    = "\x1b[1;31m"
	green  = "\x1b[1;32m"
	yellow = "\x1b[1;33m"
	plain  = "\x1b[0m"
)

// in returns a text in a colour, if there are to be colours.
func (p printer) in(colour, text string) string {
	if !p.colour || colour == plain {
		return text
	}
	return colour + text + plain
}

// verdict prints the first line, which says whether ranks would start here.
func (p printer) verdict(r Report) {
	errors, warnings := r.count(Error), r.count(Warning)
	colour, verdict := green, "ready: ranks can share a process on this machine"
	switch {
	case errors > 0:
		colour, verdict = red, fmt.Sprintf("not ready, because of %s: ranks would not start", counted(errors, "error"))
	case warnings > 0:
		colour, verdict = yellow, fmt.Sprintf("ready, with %s: some jobs would fail or run slower", counted(warnings, "warning"))
	}
	fmt.Fprintln(p, p.in(colour, fmt.Sprintf("tpsl %s: %s", r.Version, verdict)))
}

// count returns how many findings have a severity.
func (r Report) count(s Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// findings prints a line for each.
func (p printer) findings(all []Finding) {
	if len(all) == 0 {
		return
	}
	colours := map[Severity]string{Error: red, Warning: yellow, Note: plain}
	p.part("What would fail, and what to do")
	for _, f := range all {
		fmt.Fprintf(p, "  %s %s\n", p.in(colours[f.Severity], fmt.Sprintf("%-8s", f.Severity)), f)
	}
}

func (p printer) part(title string) { fmt.Fprintf(p, "\n%s\n", title) }

// line leaves out what is not known.
func (p printer) line(name, value string) {
	if value != "" {
		fmt.Fprintf(p, "  %-20s %s\n", name, value)
	}
}

func (p printer) system(s System) {
	p.part("System")
	p.line("kernel", s.Kernel)
	p.line("distribution", s.Distribution)
	p.line("glibc", s.Glibc)
	p.line("CPU", s.CPU)
	p.line("CPUs", fmt.Sprintf("%d allowed of %d", s.CPUsAllowed, s.CPUsOnline))
	p.line("container", s.Container)
	if s.CgroupCPU != "" && s.CgroupCPU != "-1" && !strings.HasPrefix(s.CgroupCPU, "max") {
		p.line("cgroup CPU", s.CgroupCPU)
	}
	if s.CgroupMemory >= 0 {
		p.line("cgroup memory", s.CgroupMemory.size())
	}
	if s.CgroupPids >= 0 {
		p.line("cgroup pids", s.CgroupPids.String())
	}
	if s.InfiniBand {
		p.line("InfiniBand", "yes")
	}
}

func (p printer) limits(l Limits) {
	allows := func(r Limit, where string) string {
		if r < 0 {
			return ""
		}
		return fmt.Sprintf(", for about %s in %s", counted(int(r), "rank"), where)
	}
	const process = "a process"
	p.part("Limits")
	p.line("vm.max_map_count", l.MaxMapCount.String()+allows(l.RanksByMaps, process))
	p.line("RLIMIT_NOFILE", fmt.Sprintf("%v, hard %v%s", l.FilesSoft, l.FilesHard, allows(l.RanksByFiles, process)))
	p.line("RLIMIT_AS", l.AddressSpace.size()+allows(l.RanksByAddress, process))
	p.line("RLIMIT_MEMLOCK", l.LockedMemory.size())
	p.line("RLIMIT_CORE", l.Core.size()+", pattern "+l.CorePattern)
	p.line("/dev/shm", fmt.Sprintf("%s free of %s%s", l.ShmFree.size(), l.ShmSize.size(), allows(l.RanksByShm, "all processes")))
	if l.PtraceScope != Unknown {
		p.line("ptrace_scope", l.PtraceScope.String())
	}
	p.line("seccomp mode", l.Seccomp.String())
	p.line("process_vm_readv", l.CrossMemory)
	p.line("perf_event_paranoid", l.PerfEventParanoid.String())
}

func (p printer) libraries(f Facts) {
	p.part("MPI libraries")
	for _, l := range f.Libraries {
		mark := ""
		if l.Error == "" && l.Path == f.Chosen.Path {
			mark = " (used)"
		}
		p.line(l.Wanted, l.summary()+mark)
	}
	shown := map[string]bool{}
	for _, l := range f.Libraries {
		wanted := l.Path == f.Chosen.Path || l.By == byArgument
		if !wanted || len(l.Closure) == 0 || shown[l.Path] {
			continue
		}
		shown[l.Path] = true
		p.part("Placement of " + l.Path)
		for _, o := range l.Closure {
			fmt.Fprintf(p, "  %-8s %-20s %s\n", o.Placement, o.Name, o.Path)
		}
	}
	p.part("Placement of the program's libraries")
	for _, pattern := range f.Private.Patterns {
		fmt.Fprintf(p, "  %-8s %s\n", "private", pattern)
	}
	fmt.Fprintf(p, "  %-8s all others\n", "shared")
}

// summary says what a library is, in a line.
func (l Library) summary() string {
	if l.Error != "" {
		return l.Error
	}
	text := strings.TrimRight(fmt.Sprintf("%s: %s %s", l.Path, l.ABI, l.Version), " ")
	if l.ABI == mpilib.MPICH || l.ABI == mpilib.Standard {
		text += fmt.Sprintf(", %d names missing, %d extra", len(l.Missing), len(l.Extra))
	}
	return text
}

func (p printer) installation(i Installation) {
	p.part("Installation")
	p.line("prefix", i.Prefix)
	if i.LibtpslError != "" {
		p.line(soname.Libtpsl, i.LibtpslError)
	} else {
		p.line(soname.Libtpsl, strings.TrimRight(fmt.Sprintf("%s: version %s, built with %s", i.Libtpsl, i.LibtpslIs, i.LibtpslGo), " "))
	}
	p.line("package", i.Packaged)
	p.line("mpiexec in PATH", join(i.Mpiexec, i.MpiexecKind))
	p.line("tpslcc in PATH", i.Tpslcc)
}

func join(path, kind string) string {
	if path == "" {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", path, kind)
}

func (f Finding) String() string {
	text := f.Subject + ": " + f.Value
	if f.Need != "" {
		text += "; needs " + f.Need
	}
	return text + "; " + f.Remedy
}
