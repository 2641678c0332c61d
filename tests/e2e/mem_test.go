// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/mem"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pagetables"
)

// resting starts a job of ranks that do nothing any more, and ends it with the test.
func resting(t *testing.T, program string, ranks int, options ...string) *background {
	t.Helper()
	words := append([]string{built(t, "bin/mpiexec"), "-n", fmt.Sprint(ranks)}, options...)
	job := start(t, nil, append(words, strings.Fields(program)...)...)
	for range ranks - 1 {
		line, err := job.out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
	}
	t.Cleanup(func() {
		for _, pid := range job.processes() {
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		_ = job.Process.Signal(unix.SIGTERM) // mpiexec takes away what killed ranks leave
		_ = job.Wait()
	})
	return job
}

// restingProcess is the program as one process per rank, whose only thread is the rank.
func restingProcess(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "mpicc.mpich", "testdata/rest.c", "-O2")
}

// stop keeps all of a job but its launcher from running, and returns when the last thread stands still.
func (b *background) stop(t *testing.T) {
	t.Helper()
	for _, pid := range b.processes() {
		if pid != b.Process.Pid {
			require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
			require.Eventually(t, func() bool { return stands(pid) }, 20*time.Second, time.Millisecond)
		}
	}
}

// stands reports whether all threads of a process are stopped.
func stands(pid int) bool {
	states, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(states) > 0 && !slices.ContainsFunc(states, func(file string) bool {
		stat, err := os.ReadFile(file)
		return err == nil && stat[bytes.LastIndexByte(stat, ')')+2] != 'T'
	})
}

// rollup reads /proc/PID/smaps_rollup, in bytes.
func rollup(t *testing.T, pid int) map[string]uint64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	require.NoError(t, err)
	defer f.Close()
	sums := map[string]uint64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kilobytes uint64
		key, value, _ := strings.Cut(lines.Text(), ":")
		if n, _ := fmt.Sscanf(value, "%d kB", &kilobytes); n == 1 {
			sums[key] = kilobytes << 10
		}
	}
	return sums
}

// A sum of rows is what the kernel says of the whole, to the page; each rank has memory of
// its own; and the page frames prove that what is to be shared is, and the rest is not.
func TestMem(t *testing.T) {
	cases := []struct {
		name, mode string
		ranks      int
		flat       bool
	}{{"8 threads", "shared", 8, false}, {"8 private", "private", 8, true}, {"64 threads", "shared", 64, false}, {"64 private", "private", 64, true}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			program := fixture(t, "rest")
			if c.flat {
				program = restingProcess(t)
			}
			job := resting(t, program, c.ranks, "-rpp", fmt.Sprint(c.ranks), "-tpsl", c.mode)
			job.stop(t)
			all, sums := both(t, job)
			isWhatTheKernelSays(t, all[0], sums)
			hasRanks(t, all[0], c.ranks)
			proves(t, all[0], c.ranks)
		})
	}
}

// both reads a job of one process that stands still, and what the kernel says of the whole. That may change even so: it writes pages
// of new files to disk, and is free to move pages and to take some back. Then both are read again.
func both(t *testing.T, job *background) (all []*pagetables.Process, sums map[string]uint64) {
	t.Helper()
	var before map[string]uint64
	for range 10 {
		var errs []error
		all, errs = pagetables.Proc("/proc").Job([]int{job.Process.Pid})
		require.Empty(t, errs)
		require.Len(t, all, 1)
		before, sums = sums, rollup(t, all[0].PID)
		if isSame(before, sums) {
			break
		}
	}
	return all, sums
}

// isSame compares what other processes of the machine do not change, as whether a page of a file is shared.
func isSame(a, b map[string]uint64) bool {
	return a != nil && a["Rss"] == b["Rss"] && a["Anonymous"] == b["Anonymous"] && a["Swap"] == b["Swap"] &&
		a["Shared_Clean"]+a["Private_Clean"] == b["Shared_Clean"]+b["Private_Clean"]
}

// Whether a page of a file counts as shared or as private depends on other processes of the machine, which do not stand still: so
// their sum is compared.
func isWhatTheKernelSays(t *testing.T, p *pagetables.Process, sums map[string]uint64) {
	t.Helper()
	require.Empty(t, p.Partial)
	assert.Equal(t, sums["Rss"], p.Total.Resident, "Rss")
	assert.Equal(t, sums["Anonymous"], p.Total.Anonymous, "Anonymous")
	assert.Equal(t, sums["Swap"], p.Total.Swapped, "Swap")
	assert.Equal(t, sums["Shared_Clean"]+sums["Private_Clean"], p.Total.SharedClean+p.Total.PrivateClean, "clean")
	assert.Equal(t, sums["Shared_Dirty"]+sums["Private_Dirty"], p.Total.SharedDirty+p.Total.PrivateDirty, "dirty")
	nodes := uint64(0)
	for _, bytes := range p.Total.Nodes {
		nodes += bytes
	}
	assert.Equal(t, p.Total.Resident, nodes, "bytes on all nodes")
	assert.LessOrEqual(t, p.Total.Nodes[-1], uint64(16<<10), "bytes on no node: the vdso")
	assert.LessOrEqual(t, p.Total.Tables, p.Tables, "page tables of rows")
	assert.Greater(t, p.Total.Tables, p.Tables*3/4, "page tables of rows")
}

// hasRanks requires a row of each kind for every rank, and about as much for each, but of heaps: of more ranks than
// malloc has arenas, some share one and some may not.
func hasRanks(t *testing.T, p *pagetables.Process, ranks int) {
	t.Helper()
	require.Len(t, p.Ranks, ranks)
	private := make([]uint64, ranks)
	objects := make([]map[string]bool, ranks)
	for i := range objects {
		objects[i] = map[string]bool{}
	}
	for _, row := range p.Rows {
		if row.Owner.Kind == pagetables.OfRank {
			if row.Object != "heap" {
				private[row.Owner.Number] += row.Anonymous
			}
			objects[row.Owner.Number][row.Object+" "+row.Segment] = true
		}
	}
	library := mappedMPICH(t)
	for rank, has := range objects {
		for _, segment := range []string{"text", "rodata", "relro", "data", "bss"} {
			assert.True(t, has[library+" "+segment], "rank %d: %s of %s", rank, segment, library)
		}
		assert.True(t, has["stack rw-p"], "rank %d: stack", rank)
		assert.InDelta(t, private[ranks-1], private[rank], float64(private[ranks-1])*0.2, "private memory of rank %d", rank)
	}
}

func proves(t *testing.T, p *pagetables.Process, ranks int) {
	t.Helper()
	proof, err := pagetables.Proc("/proc").Prove(p)
	if err != nil {
		testsupport.Unable(t, "%v", err)
	}
	assert.True(t, proof.Holds(), "%+v", proof)
	for _, o := range proof.Objects {
		if o.Object == mappedMPICH(t) {
			assert.Equal(t, ranks, o.Instances)
			assert.Greater(t, o.Text, 300)
			assert.Greater(t, o.Data, 70*ranks)
			return
		}
	}
	assert.Fail(t, "no proof for libmpich", "%+v", proof)
}

// mappedMPICH is the library's file as the kernel names it.
func mappedMPICH(t *testing.T) string {
	t.Helper()
	file, err := filepath.EvalSymlinks(mpich(t))
	require.NoError(t, err)
	return file
}

// The command, on the same program as threads and as processes.
func TestMemCommand(t *testing.T) {
	testsupport.NothingLeft(t)
	threads := resting(t, fixture(t, "rest"), 4, "-rpp", "2")
	processes := resting(t, restingProcess(t), 2)
	command := func(options ...string) outcome {
		return run(t, nil, append([]string{built(t, "bin/tpsl"), "mem", fmt.Sprint(threads.Process.Pid)}, options...)...).succeeded(t)
	}
	flatPID := fmt.Sprint(processes.Process.Pid)

	table := command("-flat", flatPID).stdout
	for _, pattern := range []string{`(?m)^rest, process \d+: 2 ranks, page tables [\d,]+ kB$`, ` rank 3\n`, ` process\n`, ` sum\n`,
		`(?m)^4 ranks, private memory and page tables of each: [\d,]+ kB$`, `(?m)^as a process: [\d,]+ kB; ratio \d+\.\d\d$`} {
		assert.Regexp(t, pattern, table)
	}
	assert.Contains(t, command("-by", "object").stdout, " rank 3 "+mappedMPICH(t)+"\n")
	assert.Contains(t, command("-by", "segment").stdout, " rank 3 "+mappedMPICH(t)+" relro\n")
	assert.Regexp(t, `(?m)^[0-9a-f]{14}-[0-9a-f]{14} +\d+ copied +1 +rank 3 `+mappedMPICH(t)+` relro$`, command("-by", "page").stdout)
	assert.Contains(t, command("-proof").stdout, "the proof holds")

	var report mem.Report
	require.NoError(t, json.Unmarshal([]byte(command("-json", "-flat", flatPID).stdout), &report))
	require.Len(t, report.Processes, 2)
	require.Len(t, report.Flat, 2)
	assert.Positive(t, report.PerRank.Ratio)
}

// What the start of a process takes is given back soon after it: four ranks cost as threads about what
// they cost as processes, and privately less than twice that, whatever they do before MPI_Init.
func TestStartIsGivenBack(t *testing.T) {
	testsupport.NothingLeft(t)
	process := cost(t, resting(t, restingProcess(t), 2)) / 2
	threads := resting(t, fixture(t, "rest"), 4, "-rpp", "4")
	private := resting(t, restingProcess(t)+" late", 4, "-rpp", "4", "-tpsl", "private")
	assert.Eventually(t, func() bool {
		t.Logf("four processes %.0f kB, threads %.0f, private %.0f", 4*process/1024, cost(t, threads)/1024, cost(t, private)/1024)
		return cost(t, threads) < 1.25*4*process && cost(t, private) < 2*4*process
	}, 30*time.Second, 200*time.Millisecond)
}
