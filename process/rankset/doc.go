// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package rankset reads what the launcher tells a process about its ranks
// (docs/environment.md), and says what each rank finds in its environment instead.
//
// It only reads; any thread may use a Set.
package rankset
