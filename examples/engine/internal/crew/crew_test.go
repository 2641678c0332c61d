// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crew

import (
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// limited ends a test that hangs.
func limited(t *testing.T) {
	watch := time.AfterFunc(2*time.Minute, func() { panic(t.Name() + ": no end in time") })
	t.Cleanup(func() { watch.Stop() })
}

// end is how a crew ends.
func end(o Options, f func(m *Member) error) error {
	_, err := Run(o, f)
	return err
}

func TestSum(t *testing.T) {
	limited(t)
	for _, as := range kinds {
		o := Options{Ranks: 4, Model: "private", Matcher: "table", As: as}
		require.NoError(t, end(o, func(m *Member) error {
			for round := range int64(100) {
				values := []int64{1, round * int64(m.Rank)}
				if err := m.Sum(values); err != nil {
					return err
				}
				if values[0] != 4 || values[1] != round*6 {
					return errors.New("a wrong sum")
				}
			}
			return nil
		}), as)
	}
}

// Mates meet: nobody leaves before all have come.
func TestMeet(t *testing.T) {
	limited(t)
	came := make([]int, 3)
	o := Options{Ranks: 1, Mates: 3, Model: "global", Matcher: "table", As: goroutines}
	require.NoError(t, end(o, func(m *Member) error {
		for round := range 100 {
			came[m.Mate] = round
			if err := m.Meet(); err != nil {
				return err
			}
			for _, r := range came {
				if r != round {
					return errors.New("one left before another came")
				}
			}
			if err := m.Meet(); err != nil {
				return err
			}
		}
		return nil
	}))
}

// One that fails, or panics, ends the others' wait.
func TestFailure(t *testing.T) {
	limited(t)
	for _, as := range kinds {
		for name, fail := range map[string]func() error{
			"lost the thread": func() error { return errors.New("lost the thread") },
			"panicked":        func() error { panic("panicked") },
		} {
			begin := time.Now()
			err := end(Options{Ranks: 3, Model: "private", Matcher: "queues", As: as}, func(m *Member) error {
				if m.Rank == 1 {
					return fail()
				}
				_, _, err := Receive(m, 1, engine.AnySource, 0, make([]int64, 1))
				return err
			})
			require.ErrorContains(t, err, name, as)
			assert.Less(t, time.Since(begin), time.Minute)
		}
	}
	err := end(Options{Ranks: 1, Mates: 2, Model: "global", Matcher: "table", As: goroutines}, func(m *Member) error {
		if m.Mate == 1 {
			return errors.New("a mate is gone")
		}
		return m.Meet()
	})
	require.ErrorContains(t, err, "a mate is gone")
}

func TestOptions(t *testing.T) {
	for want, args := range map[string][]string{
		"-model x: there are private, global":  {"-model", "x"},
		"-matcher x: there are table, queues":  {"-matcher", "x"},
		"-threads-as x: there are goroutines,": {"-threads-as", "x"},
		"-threads 0: needs at least one":       {"-threads", "0"},
		"fult: takes -model private":           {"-threads-as", "fult", "-model", "global"},
	} {
		var o Options
		set := flag.NewFlagSet("x", flag.ContinueOnError)
		o.Flags(set)
		require.NoError(t, set.Parse(args))
		require.ErrorContains(t, end(o, func(*Member) error { return nil }), want)
	}
	err := end(Options{Ranks: 1, Mates: 2, Model: "private", Matcher: "table", As: goroutines}, nil)
	require.ErrorContains(t, err, "a port that threads share needs another")
}

func TestBytes(t *testing.T) {
	assert.Equal(t, []byte{1, 0, 0, 0, 2, 0, 0, 0}, Bytes([]int32{1, 2}))
	assert.Empty(t, Bytes([]float64{}))
}
