// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import "os"

// Large tells whether TPSL_TEST_LARGE=1 asks for long runs. docs/checked.md lists the tests that have one.
func Large() bool { return os.Getenv("TPSL_TEST_LARGE") == "1" }

// Times returns how often a test does something whose failure is rare: few times, or many in a long run.
func Times(few, many int) int {
	if Large() {
		return many
	}
	return few
}
