// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package terminal tells whether somebody looks on, and what may be shown.
package terminal
