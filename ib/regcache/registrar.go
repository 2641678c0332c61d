// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

// Access is what a NIC may do with memory beside reading it: the bits of ibv_reg_mr.
type Access uint32

// Memory is what a Registrar returns: the keys of an ibv_mr, and its address.
type Memory struct {
	Local, Remote uint32
	Handle        uintptr
}

// A Registrar registers memory. Its methods may be called by several threads at once,
// with locks of the cache held; they may allocate and free, and so lead to Invalidate,
// but must not call Acquire or Release.
type Registrar interface {
	// Register is ibv_reg_mr. An error that is syscall.ENOMEM says that no more may be
	// locked; the cache then evicts and tries again.
	Register(r Range, access Access) (Memory, error)
	// Deregister is ibv_dereg_mr. It gets each Memory once.
	Deregister(m Memory)
}
