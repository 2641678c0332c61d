// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package engine

// Asking which NUMA node a thread runs on is a system call here: all are near.
func domains() int { return 1 }

func (p *Port) domain() int { return 0 }
