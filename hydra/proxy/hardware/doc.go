// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hardware gives the ranks of a host their parts of it: CPUs, memory, GPUs and NICs.
//
// Package hydra/plan decides which CPUs a rank gets, from the description of the machine that this package reads. [Deal] does
// both and adds the devices. What a process gets takes effect in two ways: by the CPU mask and the memory policy that it inherits
// from the thread that starts it, and by variables of its environment.
//
// [Shares] is not written to after it was dealt, and may be used from any goroutine.
package hardware
