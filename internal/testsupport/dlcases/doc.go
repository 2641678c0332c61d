// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package dlcases says what dlopen and dlsym do, as a table of cases that any loader can
// run: small libraries, and a script of calls whose answers it prints. What ld.so prints
// is right.
package dlcases
