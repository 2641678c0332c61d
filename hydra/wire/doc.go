// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package wire turns plain data into bytes and back, for what mpiexec and its proxies tell each other.
//
// Plain data are booleans, integers, strings, and slices, arrays, maps and structs of plain data. Values follow one another, the
// fields of a struct in order, without names or types. This works because both sides have the same version, which they check
// before. So a proxy has no types to learn when it starts. Strings need not be UTF-8. A nil slice and an empty slice stay
// different.
//
// Not safe: the bytes of another type may decode to some value of this type. A decoded value never takes more than the length of
// its bytes allows.
package wire
