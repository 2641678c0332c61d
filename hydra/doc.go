// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hydra runs MPI jobs as MPICH's Hydra does.
//
// Package hydra/options reads what the user asks for, and package hydra/plan decides which ranks run where. A [Job] is a plan
// that runs: for each host package hydra/launch starts a proxy (package hydra/proxy), and the job passes PMI barriers, stdio,
// signals and exits between the proxies and the terminal (package hydra/channel). A job ends with an [Outcome], which holds
// the exit code and what to say about it.
//
// Not safe: Run owns the process's signals, standard streams and children. A process can run only one job.
//
// A Job is driven by the goroutine that calls Run.
package hydra
