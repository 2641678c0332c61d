// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package topologytest makes trees of /sys as machines show them that are not at hand,
// for tests. A Machine says what there is, Tree writes the files that package topology
// and package ib read.
//
// It is for tests only. A Machine is plain data.
package topologytest
