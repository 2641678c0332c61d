// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package flags reads the options of a tool. It is package flag with messages as mpiexec has them.
package flags
