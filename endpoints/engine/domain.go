// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// domains is how many sets of near threads a port in model HMCS knows.
const domains = 1

// domain returns the calling thread's.
func (p *Port) domain() int { return 0 }
