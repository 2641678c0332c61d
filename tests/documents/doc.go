// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package documents has tests that do what documents tell a user to do: they build and run
// the programs of the tutorial and the README, and the job scripts for Slurm.
package documents
