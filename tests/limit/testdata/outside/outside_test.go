// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package outside hangs before its first test, for the tests of tests/limit.
package outside

import (
	"testing"
	"time"
)

func TestMain(*testing.M) { time.Sleep(time.Hour) }

func TestNever(*testing.T) {}
