// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hangs has tests that hang, for the tests of tests/limit.
package hangs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// It waits for its turn while others hang, and for so long as it says.
func TestTurn(t *testing.T) {
	testsupport.Limit(t, time.Hour)
	t.Parallel()
	t.Run("part", func(*testing.T) {})
}

func TestBefore(*testing.T) {}

// In Go alone.
func TestGo(t *testing.T) {
	t.Run("quick", func(*testing.T) {})
	t.Run("waits", func(*testing.T) { waitForever() })
}

//go:noinline
func waitForever() { <-make(chan int) }

// In a program, and below it one in a session of its own, which has let go of the output.
func TestProgram(t *testing.T) {
	t.Log("half a line follows")
	os.Stdout.WriteString("half a line")
	_ = exec.Command("sh", "-c", "setsid sleep 1234 >/dev/null 2>&1 & setsid -f sleep 1235; sleep 1236; :").Run()
}

// As long as it says that it takes.
func TestLong(t *testing.T) {
	testsupport.Limit(t, time.Hour)
	t.Run("part", func(*testing.T) { time.Sleep(11 * time.Second) })
}

// Beside others: one that ends, and one that has not ended either.
func TestParallel(t *testing.T) {
	t.Run("ends", func(t *testing.T) { t.Parallel() })
	for _, name := range []string{"waits", "works"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitForever()
		})
	}
}

// With go test -parallel 3 one of these gets no turn.
func TestQueue(t *testing.T) {
	for _, name := range []string{"1", "2", "3", "4"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitForever()
		})
	}
}

func TestFails(t *testing.T) { t.Error("by itself") }

func TestAfter(*testing.T) {}
