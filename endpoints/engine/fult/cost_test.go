// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestSwitchesDoNotAllocate(t *testing.T) {
	w := NewWorker(3)
	done := false
	other := create(t, w, func(me *Thread) {
		for !done {
			me.Wait()
		}
	}).Bit()
	create(t, w, func(me *Thread) {
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			other.Set()
			me.Yield()
		}))
		done = true
		other.Set()
	})
	require.NoError(t, w.Run())
}

const switchesVariable = "FULT_TEST_SWITCHES"

// A switch makes no system call: a hundred times as many switches make no more of
// them, but for the few by which Go interrupts a thread every 10 ms, however long they take.
func TestSwitchesMakeNoSystemCalls(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv(switchesVariable)); err == nil {
		switchBetweenMarks(t, n)
		return
	}
	testsupport.Require(t, "strace")
	few, _ := systemCalls(t, 10_000)
	many, took := systemCalls(t, 1_000_000)
	t.Logf("%d in 10^4 switches, %d in 10^6, in %v", few, many, took)
	assert.Less(t, many-few, 1000+10*int(took/(10*time.Millisecond)))
}

// mark is a system call that nothing else makes.
func mark() { _ = unix.Access("/fult-mark", 0) }

// switchBetweenMarks makes n switches.
func switchBetweenMarks(t *testing.T, n int) {
	debug.SetGCPercent(-1)
	w := NewWorker(100)
	left := 0
	for range 100 {
		create(t, w, func(me *Thread) {
			me.Yield() // all have started
			if left == 0 {
				left = n
				mark()
			}
			for left > 0 {
				if left--; left == 0 {
					mark()
					os.Exit(0)
				}
				me.Yield()
			}
		})
	}
	require.NoError(t, w.Run())
}

// systemCalls counts what the worker's OS thread calls between the marks, and tells the time between them.
func systemCalls(t *testing.T, switches int) (calls int, took time.Duration) {
	dir := t.TempDir()
	out, errs, code := testsupport.Run(t, 2*time.Minute, []string{switchesVariable + "=" + strconv.Itoa(switches)},
		"strace", "-f", "-ff", "-ttt", "-o", filepath.Join(dir, "of"), os.Args[0], "-test.run", "^"+t.Name()+"$")
	require.Zero(t, code, "%s%s", out, errs)
	files, err := filepath.Glob(filepath.Join(dir, "of.*"))
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		var marks []int
		for i, line := range lines {
			if strings.Contains(line, `"/fult-mark"`) {
				marks = append(marks, i)
			}
		}
		if len(marks) == 2 {
			return marks[1] - marks[0], at(t, lines[marks[1]]) - at(t, lines[marks[0]])
		}
	}
	require.Fail(t, "no thread made both marks", "%q", files)
	return 0, 0
}

// at reads the time, in seconds, with which a line of strace -ttt begins.
func at(t *testing.T, line string) time.Duration {
	text, _, _ := strings.Cut(line, " ")
	seconds, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, line)
	return time.Duration(seconds * float64(time.Second))
}

// The time from a signal to the thread's running is about the same whether the
// worker has 64 threads or 10^5. Of many tries a fast one counts, which nothing else
// on the machine disturbed; where all of them were, it is tried anew.
func TestWakingOneOfManyCostsAsWakingOneOfFew(t *testing.T) {
	threads := 100_000
	if raceDetector {
		threads = 10_000 // whose memory is slow
	}
	var few, many time.Duration
	for try := 0; try < 5 && many >= 3*few; try++ {
		few, many = wakeTime(t, 64), wakeTime(t, threads)
		t.Logf("64 threads: %v, %d: %v", few, threads, many)
	}
	assert.Less(t, many, 3*few)
}

// wakeTime returns the time in which a thread wakes another, any of n, that
// answers; all others sleep.
func wakeTime(t *testing.T, n int) time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	w := NewWorker(n + 1)
	bits := make([]Bit, n)
	var first Bit
	woken, end := -1, false
	var times []time.Duration
	start := create(t, w, func(me *Thread) {
		me.Yield()
		defer func() {
			end = true
			for i := range bits {
				bits[i].Set()
			}
		}()
		for i := range 400 {
			// The same 50 threads, spread over all, so that what is measured is how they
			// are found and not whether their stacks are in the cache.
			begin := time.Now()
			for j := range 50 {
				which := (j*n/50 + i%2) % n
				bits[which].Set()
				for woken != which {
					me.Wait()
				}
			}
			times = append(times, time.Since(begin)/50)
		}
	})
	first = start.Bit()
	for i := range n {
		bits[i] = create(t, w, func(me *Thread) {
			for me.Wait(); !end; me.Wait() {
				woken = i
				first.Set()
			}
		}).Bit()
	}
	require.NoError(t, w.Run())
	slices.Sort(times)
	return times[len(times)/10]
}
