// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/process/rankset"
)

func newWatch(unclaimed ...int) (*watch, chan string, chan string) {
	said, ended := make(chan string, 4), make(chan string, 4)
	return &watch{
		ranks:     []int{4, 5, 6},
		number:    "-rpp",
		unclaimed: func() []int { return unclaimed },
		threads:   "2",
		say:       func(s string) { said <- s },
		end:       func(s string) { ended <- s },
	}, said, ended
}

func TestWatchSaysThenEnds(t *testing.T) {
	w, said, ended := newWatch(2)
	w.start(time.Millisecond, 20*time.Millisecond)
	line := <-said
	assert.Contains(t, line, "rank 6 (slot 2)")
	assert.Contains(t, line, "OMP_NUM_THREADS=2")
	assert.Contains(t, <-ended, "rank 6")
	assert.Empty(t, said, "said once")
}

// That only one thread has come is what a program for one rank per process looks like.
func TestWatchHintsAtFlatPrograms(t *testing.T) {
	const hint = "is the program written for one rank per process? then start it with -rpp 1, or build it with mpicc for private mode"
	w, _, _ := newWatch()
	assert.Contains(t, w.message([]int{1, 2}, time.Second), hint)
	assert.NotContains(t, w.message([]int{2}, time.Second), hint, "two threads have come")
	w.number = rankset.Variable
	assert.Contains(t, w.message([]int{1, 2}, time.Second), "or a smaller TPSL_RANKS; is the program written for one rank per process? then unset TPSL_RANKS")
	w.number = rankset.Team
	assert.Contains(t, w.message([]int{1, 2}, time.Second), "or a smaller OpenMP team; is only one thread of the team to be a rank?")
}

// Where the process has not run meanwhile, both are due at once.
func TestWatchSaysBeforeItEnds(t *testing.T) {
	for range 200 {
		w, said, ended := newWatch(2)
		w.end = func(string) { ended <- fmt.Sprint(len(said)) }
		w.start(time.Millisecond, time.Millisecond+1)
		require.Equal(t, "1", <-ended)
	}
}

func TestWatchIsQuietWhenAllClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said, ended := newWatch()
		w.start(time.Minute, time.Hour)
		time.Sleep(2 * time.Hour)
		assert.Empty(t, said)
		assert.Empty(t, ended)
	})
}

func TestWatchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said, ended := newWatch(0)
		w.start(time.Minute, time.Hour)
		w.stop()
		time.Sleep(2 * time.Hour)
		assert.Empty(t, said)
		assert.Empty(t, ended)
	})
}

func TestInitTimeout(t *testing.T) {
	d, err := initTimeout("")
	require.NoError(t, err)
	assert.Equal(t, 120*time.Second, d)
	d, err = initTimeout("7")
	require.NoError(t, err)
	assert.Equal(t, 7*time.Second, d)
	_, err = initTimeout("soon")
	assert.ErrorContains(t, err, "TPSL_INIT_TIMEOUT")
}
