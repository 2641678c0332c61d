// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

// goroutine returns where the caller's goroutine lies.
func goroutine() uintptr

// prefetch begins to bring in what a switch to t reads: the state, the coroutine,
// the goroutine and the top of the stack.
//
//go:noescape
func prefetch(t *Thread)

// prefetchLine begins to bring in t itself.
//
//go:noescape
func prefetchLine(t *Thread)
