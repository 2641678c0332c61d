// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

// failureLines tells of the processes that broke the job, as far as no line of the outcome does.
func (j *Job) failureLines() []string {
	switch {
	case j.crash >= 0 && j.plan.Exit.Banner == plan.BannerHydra:
		return j.hydraBanner(j.failures[j.crash])
	case j.crash >= 0 && j.plan.Exit.KeepRunning:
		return append(j.crashLines(), alsoFailed(slices.Delete(slices.Clone(j.failures), j.crash, j.crash+1))...)
	case j.crash >= 0:
		return append(j.crashLines(), alsoFailed(j.failures[j.crash+1:])...)
	case j.plan.Exit.KeepRunning && len(j.failures) > 0:
		first := j.failures[0]
		return append([]string{"mpiexec: " + first.who() + " " + first.failure()}, alsoFailed(j.failures[1:])...)
	}
	return nil
}

// crashLines reports the crash that ended the job in a line, and says in a second one what to do, where that is known.
func (j *Job) crashLines() []string {
	info := j.failures[j.crash]
	lines := []string{"mpiexec: " + crashText(info)}
	if advice := j.advice(info); advice != "" {
		lines = append(lines, "mpiexec: "+advice)
	}
	return lines
}

// crashText says in a line who was killed by what.
func crashText(info exitInfo) string {
	signal := info.status().Signal()
	one, were := "", "was"
	if len(info.set.Ranks) > 1 {
		one, were = "one process, ", "were"
	}
	text := fmt.Sprintf("%s%s (%s%s on %s, PID %d) %s killed by %s (%d, %s)%s", info.set.Name(), ofGroup(info.group), one,
		info.program, info.host, info.PID, were, unix.SignalName(signal), signal, signalText(signal), coreText(info))
	if len(info.set.Ranks) > 1 && info.FaultRank >= 0 {
		text += fmt.Sprintf("; the fault was in rank %d", info.FaultRank)
	}
	if info.OutOfMemory {
		text += "; the kernel killed it at the memory limit of its cgroup"
	}
	return text
}

// ofPrograms lists the signals that faults of a program cause. Others come from outside.
var ofPrograms = []unix.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGABRT, unix.SIGTRAP, unix.SIGSYS}

// advice says what the user can do about a crash. It is empty where nothing is known.
func (j *Job) advice(info exitInfo) string {
	stderr := j.plan.Hosts[0].Stdio.ErrFile
	switch {
	case info.OutOfMemory:
		return "ask the resource manager for more memory, or put fewer ranks on a host (-ppn)"
	case info.Core != "":
		return fmt.Sprintf("gdb -c %s shows where it crashed", info.Core)
	case stderr != "":
		return fmt.Sprintf("what it wrote to stderr is in the file of -errfile-pattern %s", stderr)
	case info.group != 0 || !slices.Contains(ofPrograms, info.status().Signal()):
		return "" // -gdb names ranks of the command line
	}
	ranks := info.set.Label()
	if info.FaultRank >= 0 {
		ranks = fmt.Sprint(info.FaultRank)
	}
	return fmt.Sprintf("-gdb %s runs it under gdb; after ulimit -c unlimited a crash leaves a core file", ranks)
}

// hydraBanner reports a crash as Hydra does. Scripts search for Hydra's words, so it has them all, and adds what Hydra does not
// say.
func (j *Job) hydraBanner(info exitInfo) []string {
	signal := info.status().Signal()
	rule := strings.Repeat("=", 83)
	return slices.Concat([]string{
		"",
		rule,
		"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
		fmt.Sprintf("=   PID %d RUNNING AT %s", info.PID, info.host),
		fmt.Sprintf("=   EXIT CODE: %d", j.outcome.Code),
		"=   " + rankLine(info),
		"=   PROGRAM: " + info.program,
		fmt.Sprintf("=   SIGNAL: %s (%d)%s", unix.SignalName(signal), signal, coreText(info)),
	}, j.details(info), []string{
		"=   CLEANING UP REMAINING PROCESSES",
		"=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
		rule,
		fmt.Sprintf("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: %s (signal %d)", signalText(signal), signal),
		"This typically refers to a problem with your application.",
		"Please see the FAQ page for debugging suggestions",
	})
}

// details returns the lines of Hydra's form that not every crash has.
func (j *Job) details(info exitInfo) (lines []string) {
	if info.OutOfMemory {
		lines = append(lines, "=   OUT OF MEMORY: the kernel killed it at the memory limit of its cgroup")
	}
	const most = 8
	later := j.failures[j.crash+1:]
	for _, next := range later[:min(most, len(later))] {
		lines = append(lines, fmt.Sprintf("=   THEN FAILED: %s: %s", next.who(), next.failure()))
	}
	if len(later) > most {
		lines = append(lines, fmt.Sprintf("=   THEN FAILED: %d more", len(later)-most))
	}
	// The last lines are repeated if other output may stand between them and the banner, or if they went to a file.
	apart := j.plan.Size > len(info.set.Ranks) || j.plan.Hosts[0].Stdio.ErrFile != ""
	if j.crash == 0 && apart && len(j.lastLines) > 0 {
		lines = append(lines, "=   ITS LAST LINES ON STDERR:")
		for _, line := range j.lastLines {
			lines = append(lines, "=   | "+line)
		}
	}
	return lines
}

func rankLine(info exitInfo) string {
	switch {
	case len(info.set.Ranks) == 1:
		return "RANK: " + info.set.Label() + ofGroup(info.group)
	case info.FaultRank >= 0:
		return fmt.Sprintf("RANKS: %s (one process); the fault was in rank %d", info.set.Label(), info.FaultRank)
	}
	return fmt.Sprintf("RANKS: %s (one process)", info.set.Label())
}

func coreText(info exitInfo) string {
	switch {
	case !info.status().CoreDump():
		return ", no core"
	case info.Core == "":
		return ", core dumped"
	}
	return ", core dumped to " + info.Core
}

// signalText names a signal as strsignal(3) does: Go's names differ in the first letter.
func signalText(signal unix.Signal) string {
	text := signal.String()
	return strings.ToUpper(text[:1]) + text[1:]
}
