// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ranges reads and writes lists of numbers as the kernel, Slurm and Hydra do: 0-2,5.
//
// It holds no state; all of it may be called from any goroutine.
package ranges
