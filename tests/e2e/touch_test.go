// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/pagetables"
)

// A fault brings a page, which the kernel takes from the NUMA node of the CPU.
type fault struct{ thread, cpu int }

// faults reads what perf recorded: the last fault on each page, which is the one that copied it. Before, something
// else may have been at the address.
func faults(t *testing.T, data string) map[uint64]fault {
	t.Helper()
	out := run(t, nil, "perf", "script", "--show-lost-events", "-i", data, "-F", "tid,cpu,addr")
	require.NotContains(t, out.stdout, "LOST", "perf was too slow")
	last := map[uint64]fault{}
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+) +\[(\d+)\] +([0-9a-f]+)`).FindAllStringSubmatch(out.stdout, -1) {
		thread, _ := strconv.Atoi(m[1])
		cpu, _ := strconv.Atoi(m[2])
		address, _ := strconv.ParseUint(m[3], 16, 64)
		last[address/pageSize] = fault{thread, cpu}
	}
	return last
}

// written lists the pages of files that ranks have of their own, by rank, and counts those of an object.
func written(t *testing.T, p *pagetables.Process, object string) (pages map[uint64]int, count map[int]int) {
	t.Helper()
	pages, count = map[uint64]int{}, map[int]int{}
	require.NoError(t, pagetables.Proc("/proc").EachPages(p, func(r *pagetables.Pages) error {
		for at := r.Start; at < r.End && r.State == "copied" && r.Owner.Kind == pagetables.OfRank; at += pageSize {
			pages[at/pageSize] = r.Owner.Number
			if strings.HasPrefix(filepath.Base(r.Object), object) {
				count[r.Owner.Number]++
			}
		}
		return nil
	}))
	return pages, count
}

// relocated counts the pages of a library that have relocations.
func relocated(t *testing.T, library string) int {
	t.Helper()
	p, err := plan.Make(library, plan.Options{Policy: plan.DefaultPolicies().Opened, Search: search.New("")})
	require.NoError(t, err)
	pages := map[uint64]bool{}
	for _, s := range p.Objects[0].Stores {
		pages[s.Offset/pageSize] = true
	}
	return len(pages)
}

// The pages of an instance are copied on the CPU of its rank, when they are relocated; in shared mode, by its thread. Of the MPI library's, those are written that have relocations, and no other.
func TestPagesAreTouchedByTheirRank(t *testing.T) {
	testsupport.Require(t, "perf")
	for _, mode := range []string{"shared", "private"} {
		t.Run(mode, func(t *testing.T) {
			testsupport.NothingLeft(t)
			data := filepath.Join(t.TempDir(), "perf.data")
			record := []string{"perf", "record", "-q", "-e", "page-faults", "-c", "1", "-d", "--sample-cpu", "-B", "-N", "-o", data}
			record = append(record, "-m", "16M") // of each CPU: room for all of them, as perf may not run until the job rests
			if try := run(t, nil, append(record, "true")...); try.code != 0 {
				testsupport.Unable(t, "perf may not count here (kernel.perf_event_paranoid, seccomp): %s", try.stderr)
			}
			program := fixture(t, "rest")
			if mode == "private" {
				program = restingProcess(t)
			}
			job := start(t, nil, append(record, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-tpsl", mode, "-bind-to", "user:1,0", program)...)
			_, err := job.out.ReadString('\n')
			require.NoError(t, err)
			all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
			require.Empty(t, errs)
			require.Len(t, all, 1)
			require.Len(t, all[0].Ranks, 2)
			pages, ofMPI := written(t, all[0], "libmpich.so")
			want := relocated(t, "libmpich.so.12")
			assert.Equal(t, map[int]int{0: want, 1: want}, ofMPI, "pages that were written")
			require.NoError(t, job.Process.Signal(unix.SIGTERM))
			_ = job.Wait()
			isTouchedBy(t, all[0], pages, faults(t, data), mode == "shared")
		})
	}
}

func isTouchedBy(t *testing.T, p *pagetables.Process, pages map[uint64]int, copied map[uint64]fault, byThread bool) {
	t.Helper()
	thread := map[int]int{}
	for _, r := range p.Ranks {
		thread[r.Rank] = r.Thread
	}
	elsewhere, byOthers := map[int]int{}, map[int]int{}
	for page, rank := range pages {
		if copied[page].cpu != 1-rank {
			elsewhere[rank]++
		}
		if copied[page].thread != thread[rank] {
			byOthers[rank]++
		}
	}
	assert.Empty(t, elsewhere, "pages by rank, of %d, that were copied on another CPU", len(pages))
	if byThread {
		assert.Empty(t, byOthers, "pages by rank that another thread copied")
	}
}
