// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package malloc copies lists of Go into memory of C's malloc, which C may keep and free.
package malloc
