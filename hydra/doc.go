// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hydra launches MPI jobs as MPICH's Hydra does.
//
// Options are what a command line asks for. A Plan says which ranks run where, in which sets: the ranks of a set share
// one process. A Job is a plan that runs: for each host package hydra/launch starts a proxy (package hydra/proxy), and the job
// passes PMI barriers, stdio, signals and exits between the proxies and the terminal (package hydra/channel). A job ends
// with an Outcome, which holds the exit code and what to say about it.
//
// Not safe: Run owns the process's signals, standard streams and children. One job per process.
//
// Options, Plan and everything made from them are plain values. A Job is driven by the goroutine that calls Run.
package hydra
