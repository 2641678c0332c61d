// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology"
)

// A way is a mode, and where the two sides of each pair are: threads of one process, two
// processes, two hosts. See programs/ends.h.
type way struct{ mode, between string }

var (
	flat             = way{"flat", "processes"}
	tpslThreads      = way{"tpsl", "threads"}
	tpslProcesses    = way{"tpsl", "processes"}
	privateThreads   = way{"private", "threads"}
	privateProcesses = way{"private", "processes"}
	tags             = way{"tags", "processes"}
	comms            = way{"comms", "processes"}
)

// usableCores returns a CPU of each core that this process may use.
func usableCores() []int {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		panic(err) // it fails only for wrong arguments
	}
	var allowed []int
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			allowed = append(allowed, cpu)
		}
	}
	var cores []int
	for _, core := range topology.Read(os.DirFS("/sys"), topology.NewSet(allowed...)).Objects(topology.Core) {
		cores = append(cores, core.CPUs[0])
	}
	return cores
}

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
func (w way) run(cores []int, pairs int, name string, args ...string) side {
	cpus := place(cores, pairs)
	s := side{env: []string{"BENCH_CPUS=" + join(cpus, ","), "OMP_NUM_THREADS=1"}}
	ranks, perProcess, compiler, bind := 2*pairs, 1, "mpicc.mpich", join(cpus, ",")
	switch w.mode {
	case "tpsl", "private":
		perProcess = map[string]int{"threads": 2 * pairs, "processes": pairs}[w.between]
	case "tags", "comms":
		ranks, bind = 2, join(slices.Compact(place(cores, pairs)[:pairs]), "+")+","+join(slices.Compact(place(cores, pairs)[pairs:]), "+")
		s.env = append(s.env[:1], fmt.Sprintf("OMP_NUM_THREADS=%d", pairs), "OMP_PLACES=threads", "OMP_PROC_BIND=close")
		s.hangs = true
	}
	if w.mode == "tpsl" {
		compiler = "tpslcc"
		s.env = append(s.env[:1], fmt.Sprintf("OMP_NUM_THREADS=%d", perProcess))
	}
	s.argv = append([]string{"bin/mpiexec", "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(perProcess), "-bind-to", "user:" + bind,
		program(name, compiler), w.mode, w.between}, args...)
	return s
}

// join writes numbers with a separator.
func join(numbers []int, separator string) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, separator)
}
