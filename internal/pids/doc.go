// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pids reads the command lines of commands that are about processes: options and ids, in
// any order.
package pids
