// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package environment lists the environment variables of tpsl: those whose names begin with TPSL_. docs/environment.md
// says what each of them means.
package environment
