// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package stacks reads the stacks of threads of running processes, with gdb. A process stands still while gdb reads it.
package stacks
