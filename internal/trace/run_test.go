// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/pagetables"
	"github.com/tpsl/tpsl/pagetables/events"
)

// scripted is a source of which each Read has something happen, and tells of the threads of its number.
type scripted struct {
	listener
	steps   []func()
	threads []map[events.Thread]events.Counts
	reads   int
}

func (s *scripted) Read() (*events.Snapshot, error) {
	if s.reads < len(s.steps) {
		s.steps[s.reads]()
	}
	now := &events.Snapshot{Time: time.Now()}
	if s.reads < len(s.threads) {
		now.Threads = s.threads[s.reads]
	}
	s.reads++
	return now, nil
}

func (s *scripted) Absent() []events.Figure { return nil }

// newSession looks at process 7 of a job very often, and writes to out.
func newSession(proc pagetables.Proc, source events.Source, out *strings.Builder) *session {
	return &session{
		request: request{pids: []int{7}, every: time.Millisecond, by: "rank"},
		out:     Output{Stdout: out},
		watch:   &watch{proc: proc, source: source, named: map[events.File]bool{}},
		began:   time.Now(),
		last:    &events.Snapshot{},
		seen:    map[events.Thread]events.Counts{},
	}
}

// Ranks that have gone may come again while their process is there, as between two calls of TPSL_Run.
func TestGoesOnWithoutRanks(t *testing.T) {
	proc := job(t)
	require.NoError(t, os.RemoveAll(filepath.Join(string(proc), "9")))
	maps := filepath.Join(string(proc), "8/maps")
	ranks, err := os.ReadFile(maps)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(proc), "8/mem"), nil, 0o666))
	become := func(text string) func() {
		return func() { require.NoError(t, os.WriteFile(maps, []byte(text), 0o666)) }
	}
	source := &scripted{steps: []func(){
		become("1000-3000 r-xp 0 08:01 5 /lib/libtpsl.so.0\n"),
		become(string(ranks)),
		func() { require.NoError(t, os.RemoveAll(filepath.Join(string(proc), "8"))) },
	}}
	assert.Empty(t, newSession(proc, source, &strings.Builder{}).loop(context.Background()))
	assert.Equal(t, len(source.steps)+1, source.reads, "the last one is for the totals")
	require.Len(t, source.told, 3)
	assert.Empty(t, source.told[0])
	assert.Equal(t, []events.Thread{{ID: 8, Owner: 0}}, source.told[1])
}

// Threads that were seen are told at the end, when they have ended with the job, as they were seen last.
func TestThreadsAtTheEnd(t *testing.T) {
	proc := job(t)
	first, second := events.Thread{ID: 8, Owner: 0}, events.Thread{ID: 9, Owner: 1}
	source := &scripted{
		steps: []func(){
			func() { require.NoError(t, os.RemoveAll(filepath.Join(string(proc), "8"))) },
			func() { require.NoError(t, os.RemoveAll(filepath.Join(string(proc), "9"))) },
		},
		threads: []map[events.Thread]events.Counts{
			{first: {events.Faults: 5}, second: {events.Faults: 6}},
			{second: {events.Faults: 7}},
		},
	}
	var out strings.Builder
	s := newSession(proc, source, &out)
	s.by = "thread"
	_, errs := s.watch.update(s.pids)
	require.Empty(t, errs)
	assert.Empty(t, s.loop(context.Background()))
	assert.Regexp(t, `^in \d+\.\d s:\n +RANK +PID +THREAD .*FAULTS\n +0 +8 +8 .* 5\n +1 +9 +9 .* 7\n$`, out.String())
}
