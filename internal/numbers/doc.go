// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package numbers writes numbers as people read them in tables.
package numbers
