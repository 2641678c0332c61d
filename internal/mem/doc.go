// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package mem is the command tpsl mem: what ranks cost in memory. It reads by package
// pagetables, and prints.
package mem
