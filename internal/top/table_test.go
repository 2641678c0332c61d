// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// someJob has three ranks on two hosts, of which two are in one process.
func someJob() (whereabouts.Job, map[key]rate) {
	job := whereabouts.Job{
		PID: 40, Name: "solver", Began: time.Unix(1000, 0), Elapsed: 90 * time.Second, Ranks: 3,
		Hosts: []whereabouts.Host{
			{Proxy: 0, Name: "a", Processes: []whereabouts.Process{{PID: 50, Resident: 300 << 20, Ranks: []whereabouts.Rank{
				{Rank: 0, PID: 50, State: "in MPI_Recv(source 2, tag 7, MPI_COMM_WORLD)", InMPI: true, Since: 2500 * time.Millisecond, For: []int{2}},
				{Rank: 1, PID: 50, State: "outside of MPI"},
			}}}},
			{Proxy: 1, Name: "b", Processes: []whereabouts.Process{{PID: 60, Resident: 1 << 30, Ranks: []whereabouts.Rank{
				{Rank: 2, PID: 60, State: `in MPI_Barrier(communicator "x")`, InMPI: true, For: []int{0, 1}, ForMore: 4, ForAny: true},
			}}}},
		},
	}
	return job, map[key]rate{
		{0, 0}: {0.9, 0.5, 100, 1, 3}, {0, 1}: {0.1, 1.75, 7, 2, 123456}, {1, 2}: unknown,
	}
}

func someTable(by grouping) table {
	t := newTable(by)
	t.job, t.rates = someJob()
	return t
}

func TestText(t *testing.T) {
	job := someTable(byRank)
	assert.Equal(t, `solver (mpiexec 40): 3 ranks on 2 hosts, 1m30s
2 ranks in MPI, 50.0 % of the time
RANK HOST    PID  %MPI  %CPU   MEMORY  VCSW IVCSW FAULTS FOR        SINCE STATE
   0 a        50  90.0  50.0   300M/2   100     1      3 2           2.5s in MPI_Recv(source 2, tag 7, MPI_COMM_WORLD)
   1 a        50  10.0 175.0   300M/2     7     2   123k -              - outside of MPI
   2 b        60     -     -     1.0G     -     -      - 0-1,+4,any     - in MPI_Barrier(communicator "x")
`, job.text())
}

func TestGroups(t *testing.T) {
	lines := func(by grouping) []string {
		job := someTable(by)
		return strings.Split(strings.TrimSpace(job.text()), "\n")[3:]
	}
	assert.Equal(t, []string{
		` 0-1 a        50  50.0 225.0     300M   107     3   123k -         - 1: in MPI_Recv(source 2, tag 7, MPI_COMM_WORLD); 1: outside of MPI`,
		`   2 b        60     -     -     1.0G     -     -      - -         - in MPI_Barrier(communicator "x")`,
	}, lines(byProcess))
	assert.Equal(t, lines(byProcess), lines(byHost), "each host has one process")
}

// The sum over a host counts the memory of each process once.
func TestMemoryOfHost(t *testing.T) {
	job := someTable(byHost)
	job.job.Hosts[0].Processes = append(job.job.Hosts[0].Processes, whereabouts.Process{PID: 51, Resident: 100 << 20, Ranks: []whereabouts.Rank{{Rank: 9, PID: 52, State: "outside of MPI"}}})
	rows := job.rows()
	assert.Equal(t, uint64(400<<20), rows[0].resident)
	assert.Equal(t, []int{0, 1, 9}, rows[0].ranks)
	assert.Equal(t, []int{50, 51}, rows[0].pids)
	assert.Equal(t, "2: outside of MPI; 1: in MPI_Recv(source 2, tag 7, MPI_COMM_WORLD)", rows[0].state)
}

// Each key sorts by its column, and the second press turns the order round.
func TestSort(t *testing.T) {
	order := func(keys ...string) (ranks []int) {
		job := someTable(byRank)
		for _, key := range keys {
			require.True(t, job.sortBy(key))
		}
		for _, r := range job.rows() {
			ranks = append(ranks, r.ranks[0])
		}
		return ranks
	}
	assert.Equal(t, []int{0, 1, 2}, order())
	assert.Equal(t, []int{2, 1, 0}, order("r"), "it is sorted by rank already")
	assert.Equal(t, []int{0, 1, 2}, order("m"), "what is not known comes last")
	assert.Equal(t, []int{2, 1, 0}, order("m", "m"))
	assert.Equal(t, []int{0, 1, 2}, order("m", "m", "m"))
	assert.Equal(t, []int{1, 0, 2}, order("c"))
	assert.Equal(t, []int{2, 0, 1}, order("y"))
	assert.Equal(t, []int{2, 0, 1}, order("w"))
	assert.Equal(t, []int{2, 0, 1}, order("h", "h"), "equal ones stay in the order of ranks")
	assert.Equal(t, []int{2, 0, 1}, order("s"))
	job := someTable(byRank)
	assert.False(t, job.sortBy("z"))
	for _, c := range columns {
		assert.True(t, job.sortBy(c.key), c.title)
		job.rows()
	}
}

func TestFilter(t *testing.T) {
	for filter, want := range map[string][]int{
		"": {0, 1, 2}, "1": {1}, "1-2": {1, 2}, "0, 2": {0, 2}, "9": nil, "mpi_recv": {0}, "B": {2}, "outside": {1}, "any": {2}, "1-": nil, "recv,2": nil, "nothing": nil,
	} {
		job := someTable(byRank)
		job.filter = filter
		var got []int
		for _, r := range job.rows() {
			got = append(got, r.ranks[0])
		}
		assert.Equal(t, want, got, filter)
	}
}

func TestHeading(t *testing.T) {
	job := someTable(byRank)
	job.job.Ranks, job.job.LeftOut = 103, 100
	job.job.Hosts[1].Silent = true
	job.job.Hosts[0].Processes[0].Ranks[1].Ended = true
	for at := range job.rates {
		job.rates[at] = unknown
	}
	assert.Equal(t, [2]string{"solver (mpiexec 40): 103 ranks on 2 hosts, 1m30s", "2 ranks in MPI; 1 ended; no answer from b; 100 ranks not shown"}, job.heading())
}

// What others choose, such as names of communicators and hosts, does not reach the terminal as commands.
func TestNamesAreQuoted(t *testing.T) {
	job := someTable(byRank)
	job.job.Name = "a\x1b[2J"
	job.job.Hosts[0].Name = "b\x1b[2J"
	job.job.Hosts[0].Processes[0].Ranks[0].State = "in MPI_COMM_\x1b[2J\n"
	job.job.Hosts[1].Silent, job.job.Hosts[1].Name = true, "c\x1b[2J"
	assert.NotContains(t, job.text(), "\x1b")
	assert.Equal(t, 6, strings.Count(job.text(), "\n"))
}

// Whatever the width, a line is no wider than its columns say, and the most important columns are there.
func TestLayout(t *testing.T) {
	job := someTable(byRank)
	rows := job.rows()
	all, _ := layout(rows, 0)
	assert.Len(t, all, len(columns))
	before := len(columns)
	for width := 150; width > 0; width-- {
		shown, widths := layout(rows, width)
		assert.LessOrEqual(t, len(shown), before)
		before = len(shown)
		titles := titleLine(shown, widths)
		for _, title := range []string{"RANK", "%MPI", "STATE"} {
			assert.Contains(t, titles, title)
		}
		if len(shown) > 3 {
			assert.LessOrEqual(t, total(widths), width)
		}
	}
	assert.Equal(t, 3, before)
	shown, widths := layout(rows, 80)
	assert.Equal(t, "RANK HOST  %MPI  %CPU   MEMORY FAULTS FOR        SINCE STATE", titleLine(shown, widths))
}

// The largest figures keep to their columns.
func TestCells(t *testing.T) {
	for _, share := range []float64{0, 0.0004, 0.5, 0.99949, 1, 9.9949, 9.9951, 1234, 1e9} {
		assert.LessOrEqual(t, len(percent(share)), 5, share)
	}
	assert.Equal(t, []string{"", "0.0", "100.0", "1024"}, []string{percent(-1), percent(0), percent(1), percent(10.24)})
	for size := uint64(1); size < math.MaxUint64/3; size *= 3 {
		assert.LessOrEqual(t, len(bytesText(size)), 5, size)
	}
	assert.Equal(t, []string{"1k", "1023k", "1.0M", "9.9M", "10M", "2.0G"}, []string{bytesText(1024), bytesText(1023 << 10), bytesText(1 << 20), bytesText(10380902), bytesText(10 << 20), bytesText(2 << 30)})
	for d, want := range map[time.Duration]string{
		0: "", -1: "", time.Millisecond: "0.0s", 9999 * time.Millisecond: "9.9s", 99 * time.Second: "99s", 100 * time.Second: "1m", 99 * time.Minute: "99m", 99 * time.Hour: "99h", 240 * time.Hour: "10d",
	} {
		assert.Equal(t, want, age(d))
	}
}

// 4,096 ranks are put in order and into lines many times a second.
func BenchmarkTable(b *testing.B) {
	job, rates := manyRanks(4096)
	for b.Loop() {
		t := newTable(byRank)
		t.job, t.rates = job, rates
		t.sortBy("m")
		rows := t.rows()
		layout(rows, 80)
	}
}

// manyRanks is a job of so many ranks, 64 on each host.
func manyRanks(size int) (whereabouts.Job, map[key]rate) {
	job, rates := whereabouts.Job{Name: "big", Ranks: size}, map[key]rate{}
	for first := 0; first < size; first += 64 {
		h := whereabouts.Host{Proxy: first / 64, Name: fmt.Sprintf("node%04d", first/64)}
		for rank := first; rank < min(first+64, size); rank++ {
			h.Processes = append(h.Processes, whereabouts.Process{PID: rank, Resident: 1 << 30, Ranks: []whereabouts.Rank{
				{Rank: rank, PID: rank, InMPI: true, State: "in MPI_Allreduce(MPI_COMM_WORLD)", For: []int{1, 2, 3, 4, 5, 6, 7, 8}, ForMore: 4000},
			}})
			rates[key{h.Proxy, rank}] = rate{float64(rank) / float64(size), 1, 1000, 10, 1}
		}
		job.Hosts = append(job.Hosts, h)
	}
	return job, rates
}
