// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A way is a mode, and where the two sides of each pair are: threads of one process, two
// processes, two hosts. See programs/ends.h. The compiler is that of the modes that run
// flat programs; mpicc.mpich where it is "".
type way struct{ mode, between, compiler string }

var (
	flat             = way{mode: "flat", between: "processes"}
	tpslThreads      = way{mode: "tpsl", between: "threads"}
	tpslProcesses    = way{mode: "tpsl", between: "processes"}
	memoryThreads    = way{mode: "memory", between: "threads"}
	neighbourThreads = way{mode: "neighbours", between: "threads"}
	notedThreads     = way{mode: "noted", between: "threads"}
	notedProcesses   = way{mode: "noted", between: "processes"}
	countedThreads   = way{mode: "counted", between: "threads"}
	countedProcesses = way{mode: "counted", between: "processes"}
	asynchronous     = way{mode: "async", between: "processes"}
	privateThreads   = way{mode: "private", between: "threads"}
	privateProcesses = way{mode: "private", between: "processes"}
	tags             = way{mode: "tags", between: "processes"}
	comms            = way{mode: "comms", between: "processes"}
	fan              = way{mode: "fan", between: "processes"}
	flatHosts        = way{mode: "flat", between: "hosts"}
	tpslHosts        = way{mode: "tpsl", between: "hosts"}
	tagsHosts        = way{mode: "tags", between: "hosts"}
)

// place returns the CPU of each end, side 0's before side 1's. Where there are not two cores
// for each pair, the ends of a pair share one: so the threads of a process, whose quarrels are
// to be seen, run at the same time. OpenMP's "close" gives threads that share a core to it in
// this order, too.
func place(cores []int, pairs int) (cpus []int) {
	for end := range 2 * pairs {
		if 2*pairs > len(cores) {
			end = end % pairs * min(pairs, len(cores)) / pairs
		}
		cpus = append(cpus, cores[end])
	}
	return cpus
}

// run makes a side of a program that is called as programs/ends.h says.
func (w way) run(cores []int, pairs int, name string, args ...string) turns.Side {
	cpus := place(cores, pairs)
	threads, perProcess, ranks, compiler := 1, 1, 2*pairs, cmp.Or(w.compiler, "mpicc.mpich")
	bind := "user:" + join(cpus, ",")
	var places []string
	switch w.mode {
	case "tpsl", "memory", "neighbours", "noted", "counted":
		threads, compiler = w.together(pairs), "tpslcc"
		perProcess = threads
	case "private":
		perProcess = w.together(pairs)
	case "tags", "comms", "fan":
		threads, ranks = pairs, 2
		places = []string{"OMP_PLACES=threads", "OMP_PROC_BIND=close"}
		second := distinct(cpus[pairs:], "+")
		if w.mode == "fan" {
			ranks, second = 1, join(cpus[pairs:], ",")
		}
		bind = "user:" + distinct(cpus[:pairs], "+") + "," + second
	}
	s := turns.Side{Hangs: places != nil}
	s.Env = append([]string{"BENCH_CPUS=" + join(cpus, ","), fmt.Sprintf("OMP_NUM_THREADS=%d", threads)}, places...)
	if setting := map[string]string{"memory": byMemory, "neighbours": byNeighbours, "async": byThread, "noted": byNotes, "counted": byCounts}[w.mode]; setting != "" {
		s.Env = append(s.Env, setting)
	}
	s.Argv = []string{"bin/mpiexec", "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(perProcess)}
	if w.between == "hosts" {
		s.Argv = append([]string{twoHosts, distinct(cpus[:pairs], ","), distinct(cpus[pairs:], ",")}, s.Argv...)
		s.Argv = append(s.Argv, "-hosts", "10.79.0.1,10.79.0.2", "-ppn", fmt.Sprint(ranks/2), "-launcher", "ssh", "-launcher-exec", twoHosts)
		if bind = "core"; places != nil {
			bind = "none" // the host's CPUs are the process's
		}
	}
	program := turns.Program(name, compiler)
	s.Argv = append(s.Argv, "-bind-to", bind, program, w.mode, w.between)
	s.Argv = append(s.Argv, args...)
	if w.mode == "fan" {
		s.Argv = append(s.Argv, ":", "-n", fmt.Sprint(pairs), program, "leaf", w.between)
		s.Argv = append(s.Argv, args...)
	}
	return s
}

// together is how many ranks of pairs a process has.
func (w way) together(pairs int) int {
	if w.between == "threads" {
		return 2 * pairs
	}
	return pairs
}

// distinct writes ascending numbers, each once.
func distinct(numbers []int, separator string) string {
	return join(slices.Compact(slices.Clone(numbers)), separator)
}

// twoHosts is a command, see programs/two-hosts.
var twoHosts = filepath.Join(turns.Built, "two-hosts")

// hostsMissing tells why two hosts cannot be made here; "" where they can.
func hostsMissing(cores []int) string {
	if len(cores) < 2 {
		return "two hosts need a core each"
	}
	out, err := exec.Command("unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "ip", "link").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("two hosts of namespaces take root and iproute2: %v: %s", err, out)
	}
	return ""
}

// join writes numbers with a separator.
func join(numbers []int, separator string) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, separator)
}
