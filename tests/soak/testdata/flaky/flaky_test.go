// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package flaky has a test that fails in one run of three, for the tests of tests/soak.
package flaky

import (
	"os"
	"testing"
	"time"
)

// The file that TPSL_TEST_FLAKY names has a byte for each run.
func TestFlaky(t *testing.T) {
	file := os.Getenv("TPSL_TEST_FLAKY")
	if file == "" {
		t.Skip("for the tests of tests/soak")
	}
	before, _ := os.ReadFile(file)
	if err := os.WriteFile(file, append(before, 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("third", func(t *testing.T) {
		if len(before)%3 == 2 {
			t.Errorf("this is run %d", len(before)+1)
		}
	})
	t.Run("good", func(*testing.T) {})
	if os.Getenv("TPSL_TEST_HANGS") != "" {
		time.Sleep(time.Hour)
	}
}
