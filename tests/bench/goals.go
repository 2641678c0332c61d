// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

// A goal is a bound for the median of a benchmark or, with a base, of its ratio
// to the base in the same turn.
type goal struct {
	what, name, base string
	atMost, atLeast  float64 // 0: no such bound
	// notWorse: the ratio's interval must include 1 or lie below it.
	notWorse bool
}

var goals = []goal{
	{what: "8 B latency, tpsl/flat", name: "Latency/mode=tpsl/size=8", base: "Latency/mode=flat/size=8", atMost: 1.05, notWorse: true},
	{what: "8 B latency, private/flat", name: "Latency/mode=private/size=8", base: "Latency/mode=flat/size=8", notWorse: true},
	{what: "8 B latency, tpsl/threaded", name: "Latency/mode=tpsl/size=8", base: "Latency/mode=threaded/size=8"},
	{what: "4 MiB bandwidth, tpsl/flat", name: "Bandwidth/mode=tpsl/size=4194304", base: "Bandwidth/mode=flat/size=4194304", atLeast: 1.25},
	{what: "4 MiB bandwidth, private/flat", name: "Bandwidth/mode=private/size=4194304", base: "Bandwidth/mode=flat/size=4194304", atLeast: 1.25},
	{what: "4 MiB bandwidth, tpsl/threaded", name: "Bandwidth/mode=tpsl/size=4194304", base: "Bandwidth/mode=threaded/size=4194304"},
	{what: "launch of 16, mpiexec/mpiexec.hydra", name: "Launch/by=mpiexec/ranks=16", base: "Launch/by=mpiexec.hydra/ranks=16", notWorse: true},
	{what: "start-up of 16 ranks, mpiexec/mpiexec.hydra", name: "Startup/by=mpiexec/mode=flat/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16", notWorse: true},
	{what: "start-up of 16 ranks, tpsl/mpiexec.hydra", name: "Startup/by=mpiexec/mode=tpsl/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
	{what: "start-up of 16 ranks, private/mpiexec.hydra", name: "Startup/by=mpiexec/mode=private/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
	{what: "PMI barrier of 64, mpiexec/mpiexec.hydra", name: "PMIBarrier/by=mpiexec/ranks=64", base: "PMIBarrier/by=mpiexec.hydra/ranks=64", atMost: 0.8},
	{what: "64x64 PMI gets, mpiexec/mpiexec.hydra", name: "PMIGets/by=mpiexec/ranks=64", base: "PMIGets/by=mpiexec.hydra/ranks=64", atMost: 0.8},
	{what: "stub over a direct call", name: "Stub", atMost: 2},
	{what: "instance after the first", name: "Instance", atMost: 2},
}
