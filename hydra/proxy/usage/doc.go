// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package usage counts what ranks take of their host: processor time, context switches and page faults, and the memory of their processes.
//
// It reads /proc. A rank is a process, or some threads of a process that has several ranks.
package usage
