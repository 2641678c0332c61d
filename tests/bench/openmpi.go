// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// openMPI measures private ranks of a program that was built with Open MPI against its processes.
func openMPI(p plan) suite {
	sizes, processes, threads := []int{small, 16384, large}, flat, privateThreads
	processes.compiler, threads.compiler = ompicc, ompicc
	s := suite{suffix: "-" + measuredOpenMPI, goals: []report.Goal{
		ratio("8 B latency", threads, processes, "Latency", 1, small, report.Goal{NotWorse: true}),
		ratio("16 KiB latency", threads, processes, "Latency", 1, 16384, report.Goal{AtMost: 0.5}),
		ratio("4 MiB latency", threads, processes, "Latency", 1, large, report.Goal{AtMost: 0.83}),
		ratio("8 B message rate", threads, processes, "Rate", 1, small, report.Goal{NotWorse: true}),
		ratio("16 KiB bandwidth", threads, processes, "Bandwidth", 1, 16384, report.Goal{}),
		ratio("4 MiB bandwidth", threads, processes, "Bandwidth", 1, large, report.Goal{}),
	}}
	for _, name := range []string{"latency", "stream"} {
		s.commands = append(s.commands, append(turns.CC(ompicc, name), filepath.Join(turns.Sources, "ends.c")))
		s.contests = append(s.contests, p.compare(name, 1, sizes, processes, threads))
	}
	return s
}

const ompicc = "mpicc.openmpi"
