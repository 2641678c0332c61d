// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/pagetables/events"
)

var testOwners = []owner{{20, helpers, 0}, {20, 11, 0}, {20, 2, 0}, {10, 0, 0}}

func testSnapshot() *events.Snapshot {
	return &events.Snapshot{
		Owners: map[int]events.Counts{
			0: {events.Syscalls: 7}, 1: {events.Syscalls: 40, events.OffCPU: 1e9}, 2: {events.Syscalls: 5}, 3: {},
		},
		Threads: map[events.Thread]events.Counts{
			{ID: 21, Owner: 1}: {events.Syscalls: 30}, {ID: 9, Owner: 1}: {events.Syscalls: 10}, {ID: 20, Owner: 2}: {events.Syscalls: 5},
		},
		Faults: map[int]map[string]events.FaultKinds{1: {"/lib/a\x1b.so": {Reads: 1}, "anonymous": {Writes: 5, Copies: 1}}},
	}
}

func lines(print func(*strings.Builder)) []string {
	var out strings.Builder
	print(&out)
	var all []string
	for line := range strings.Lines(out.String()) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return all
}

func TestRows(t *testing.T) {
	absent := []events.Figure{events.FutexWaits, events.FutexTime, events.Voluntary, events.Involuntary, events.Migrations, events.Faults}
	rows := func(before *events.Snapshot) []row { return ranksOf(testOwners, testSnapshot(), before) }
	assert.Equal(t, []string{
		"RANK PID THREADS SYSCALLS %OFF-CPU", "0 10 0 0 0.0", "2 20 1 5 0.0", "11 20 2 40 25.0", "- 20 0 7 0.0",
	}, lines(func(w *strings.Builder) { printRows(w, rows(&events.Snapshot{}), absent, 4*time.Second, false) }))
	assert.Equal(t, []string{
		"RANK PID THREAD SYSCALLS %OFF-CPU", "2 20 20 5 0.0", "11 20 9 10 0.0", "11 20 21 30 0.0",
	}, lines(func(w *strings.Builder) {
		printRows(w, threadsOf(testOwners, testSnapshot().Threads, nil), absent, 4*time.Second, false)
	}))
	before := &events.Snapshot{Owners: map[int]events.Counts{1: {events.Syscalls: 30, events.OffCPU: 9e8}}}
	live := lines(func(w *strings.Builder) { printRows(w, rows(before), absent, 500*time.Millisecond, true) })
	assert.Equal(t, []string{"per second:", "RANK PID THREADS SYSCALLS %OFF-CPU"}, live[:2])
	assert.Contains(t, live, "11 20 2 20 20.0")
}

// The largest numbers of a busy machine, by rank and by thread, total and live, fit a terminal of 80 columns.
func TestTablesFitTerminal(t *testing.T) {
	all := events.Counts{}
	for _, figure := range events.Figures {
		all[figure] = math.MaxUint64
	}
	all[events.FutexTime], all[events.OffCPU] = 512e9, 512e9 // of 512 threads in a second
	for _, r := range []row{{owner{4194304, 99999, 0}, 0, 512, all}, {owner{4194304, 99999, 0}, 4194303, 1, all}} {
		for _, live := range []bool{false, true} {
			var out strings.Builder
			printRows(&out, []row{r}, nil, time.Second, live)
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, len(line)-1, 80, line)
			}
			assert.Contains(t, out.String(), " 51200 ")
		}
	}
	var out strings.Builder
	most := events.FaultKinds{Reads: math.MaxUint64 / 4, Writes: math.MaxUint64 / 4, Copies: math.MaxUint64 / 4, Fetches: math.MaxUint64 / 4}
	printFaults(&out, []faults{{owner{4194304, 99999, 0}, "/lib/libhdf5_mpich_fortran.so.102", most}})
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line)-1, 80, line)
	}
}

func TestFaultsTable(t *testing.T) {
	assert.Equal(t, []string{
		"RANK PID FAULTS READS WRITES COPIES FETCHES OBJECT", "11 20 6 0 5 1 0 anonymous", "11 20 1 1 0 0 0 a\\x1b.so",
	}, lines(func(w *strings.Builder) { printFaults(w, faultsOf(testOwners, testSnapshot())) }))
}
