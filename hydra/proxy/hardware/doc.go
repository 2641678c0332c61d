// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hardware gives the ranks of a host their parts of it: CPUs, memory, GPUs and NICs.
//
// Which CPUs a rank gets is decided in package hydra/plan, by what this one reads of the machine. [Deal] does both and adds
// the devices. What a process gets takes effect in two ways: by the CPU mask and the memory policy of the thread that starts
// it, which it inherits, and by variables of its environment.
//
// [Shares] is not written to after it was dealt, and may be used from any goroutine.
package hardware
