// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package fult

func goroutine() uintptr   { return 0 }
func prefetch(*Thread)     {}
func prefetchLine(*Thread) {}
