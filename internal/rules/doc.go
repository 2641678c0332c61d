// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package rules checks what the compiler does not: who may import whom, where
// unsafe and cgo may stand, that each package is documented and each file
// carries its licence, and that documents name their reader and lead to what exists.
//
// A piece is a folder that the design names: loader, hydra, cmd/mpiexec. What a
// piece may depend on, directly or not, is a list; everything else of this
// module is forbidden to it. Tests may import what they like.
//
// The C files of the runtime call each other in one direction, and include of another folder
// only the header that this one shows to those above it.
//
// The checks are this package's own tests; nothing imports it.
package rules
