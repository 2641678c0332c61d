// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package wire turns plain data into bytes and back, for what mpiexec and its proxies tell each other.
//
// Plain data are booleans, integers, strings, and slices, arrays, maps and structs of plain data. Values stand one after the
// other, the fields of a struct in order, without names or types: both sides are of the same version, which they make sure of
// before. So a proxy has no types to learn when it starts. Strings need not be UTF-8; nil and empty slices stay apart.
//
// Not safe: bytes of another type may read as some value of this one. What is read is bounded by its own length, and never more.
package wire
