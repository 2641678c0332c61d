// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pmi"
)

// placed is a rank that writes in one line where it was put, and what the launcher tells it of that.
func placed() {
	fd, _ := strconv.Atoi(os.Getenv("PMI_FD"))
	client := pmi.NewClient(os.NewFile(uintptr(fd), "pmi"))
	mapping, appnum := "", 0
	steps := []func() error{
		client.Init,
		func() (err error) { mapping, err = client.Get("PMI_process_mapping"); return err },
		func() (err error) { appnum, err = client.Appnum(); return err },
		client.Barrier,
		client.Finalize,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, "placed:", err)
			os.Exit(1)
		}
	}
	e := os.Getenv
	fmt.Printf("rank %04s of %s on %s, %s of %s there, program %d, mapping %s\n", e("PMI_RANK"), e("PMI_SIZE"),
		e("MPIR_CVAR_CH3_INTERFACE_HOSTNAME"), e("MPI_LOCALRANKID"), e("MPI_LOCALNRANKS"), appnum, mapping)
}

// placements runs the ranks above, and returns what they wrote and what the mapping says.
func placements(t *testing.T, args []string) (ranks []string, mapping string) {
	t.Helper()
	j, code := runJob(t, slices.Concat([]string{"-launcher", "fork"}, args)...)
	require.Zero(t, code, j.errOut.String())
	return readPlacements(t, j)
}

// hydraPlacements does the same by mpiexec.hydra, which is to have that many ranks.
func hydraPlacements(t *testing.T, count int, args []string) (ranks []string, mapping string) {
	t.Helper()
	all := func(j *job) bool { return len(lines(j.out.String())) == count }
	j := byHydra(t, all, slices.Concat([]string{"-launcher", "fork"}, args)...)
	require.Zero(t, j.ProcessState.ExitCode(), j.errOut.String())
	return readPlacements(t, j)
}

func readPlacements(t *testing.T, j *job) (ranks []string, mapping string) {
	t.Helper()
	ranks = lines(j.out.String())
	slices.Sort(ranks)
	for i, line := range ranks {
		var found bool
		ranks[i], mapping, found = strings.Cut(line, ", mapping ")
		require.True(t, found, line)
	}
	return ranks, mapping
}

// nodesOf places ranks by a mapping, as MPI libraries do.
func nodesOf(t *testing.T, mapping string, ranks int) (nodes []int) {
	t.Helper()
	for len(nodes) < ranks {
		for triplet := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(mapping, "(vector,("), "))"), "),(") {
			var first, count, perNode int
			_, err := fmt.Sscanf(triplet, "%d,%d,%d", &first, &count, &perNode)
			require.NoError(t, err, mapping)
			for i := range count * perNode {
				nodes = append(nodes, first+i/perNode)
			}
		}
	}
	return nodes[:ranks]
}

// Ranks are where Hydra puts them, and are told the same; the mapping means the same and is no longer.
func TestPlacementIsHydras(t *testing.T) {
	testsupport.Require(t, "mpiexec.hydra")
	testsupport.NothingLeft(t)
	file := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(file, []byte("# three\na:2\n\nb  # one\nc:3\n"), 0o600))
	for _, line := range []string{
		"-n 3 PROG",
		"PROG",
		"-hosts a,b,c -n 6 PROG",
		"-hosts a:2,b:1,c:3 -n 6 PROG",
		"-hosts a:2,b:1,c:3 -n 9 PROG", // starts over
		"-hosts a:2,b:2 -n 7 PROG",
		"-hosts a:2,b:2,c:2 -n 5 PROG", // ends in the midst
		"-hosts a:2,b:2,c:2 -n 2 PROG", // b and c have none
		"-hosts a,b -n 5 PROG",
		"-hosts a:4 -n 2 PROG",
		"-hosts a:2,b:3 PROG", // every slot
		"-hosts a:2,b:2 -ppn 1 -n 4 PROG",
		"-hosts a,b,c -ppn 2 PROG",
		"-hosts a,a,b -n 3 PROG",
		"-hosts a:1,b:3,c:2 -order-nodes UP -n 6 PROG",
		"-hosts a:1,b:3,c:2 -order-nodes DOWN -n 6 PROG",
		"-hosts a:2,b:1 -n 2 PROG : -n 2 PROG",
		"-hosts a:2,b:2 -n 3 PROG : -n 3 PROG",
		"-hosts a:2,b:3 PROG : PROG",
		"-f FILE -n 4 PROG",
		"-f FILE PROG",
	} {
		args := strings.Fields(strings.NewReplacer("PROG", "placed", "FILE", file).Replace(line))
		ranks, ours := placements(t, args)
		want, theirs := hydraPlacements(t, len(ranks), args)
		assert.Equal(t, want, ranks, line)
		assert.Equal(t, nodesOf(t, theirs, len(ranks)), nodesOf(t, ours, len(ranks)), line)
		assert.LessOrEqual(t, len(ours), len(theirs), line)
	}
}

// Hydra makes three nodes of these.
func TestRepeatedHostsAreOneNode(t *testing.T) {
	ranks, mapping := placements(t, []string{"-hosts", "a,b,a", "placed"})
	assert.Equal(t, []string{
		"rank 0000 of 3 on a, 0 of 2 there, program 0",
		"rank 0001 of 3 on a, 1 of 2 there, program 0",
		"rank 0002 of 3 on b, 0 of 1 there, program 0",
	}, ranks)
	assert.Equal(t, []int{0, 0, 1}, nodesOf(t, mapping, 3))
}

// An unmodified MPICH runs across proxies, each of which it takes for a node.
func TestMPIOverHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	probe := probe(t)
	j, code := runJob(t, "-launcher", "fork", "-hosts", "a,b:2,c", "-n", "4", "-l", "-print-rank-map", probe)
	assert.Zero(t, code, j.errOut.String())
	assert.Equal(t, "a: rank 0\nb: ranks 1-2\nc: rank 3\n", j.errOut.String())
	got := lines(j.out.String())
	slices.Sort(got)
	assert.Equal(t, []string{"[0] rank 0 of 4, sum 6", "[1] rank 1 of 4, sum 6", "[2] rank 2 of 4, sum 6", "[3] rank 3 of 4, sum 6"}, got)

	j, code = runJob(t, "-launcher", "fork", "-hosts", "a,b:2,c", "-n", "4", probe, "signal", "9")
	assert.Equal(t, 9, code)
	assert.Contains(t, j.errOut.String(), "mpiexec: rank 3 ("+probe+" on c, PID ")
}

// Every resource manager that Hydra knows gives the same hosts and slots, named or found by its variables.
func TestManagersAreHydras(t *testing.T) {
	testsupport.Require(t, "mpiexec.hydra")
	testsupport.NothingLeft(t)
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	nodes, pe := file("nodes", "a\na\nb\n"), file("pe", "a 2 q x\nb 1 q x\n")
	slots := map[string]int{"pbs": 3, "ll": 3, "cobalt": 3, "sge": 3, "lsf": 3, "slurm": 5}
	for manager, settings := range map[string][]string{
		"pbs":    {"PBS_NODEFILE=" + nodes},
		"ll":     {"LOADL_HOSTFILE=" + nodes},
		"cobalt": {"COBALT_NODEFILE=" + nodes},
		"sge":    {"PE_HOSTFILE=" + pe},
		"lsf":    {"LSB_MCPU_HOSTS=a 2 b 1"},
		// Hydra wants both spellings of each.
		"slurm": {"SLURM_JOB_NODELIST=a[01-02],b", "SLURM_NODELIST=a[01-02],b", "SLURM_JOB_NUM_NODES=3", "SLURM_NNODES=3",
			"SLURM_TASKS_PER_NODE=2(x2),1"},
	} {
		t.Run(manager, func(t *testing.T) {
			for _, setting := range settings {
				name, value, _ := strings.Cut(setting, "=")
				t.Setenv(name, value)
			}
			want, theirs := hydraPlacements(t, slots[manager], []string{"-rmk", manager, "placed"})
			for _, args := range [][]string{{"-rmk", manager, "placed"}, {"placed"}} {
				ranks, ours := placements(t, args)
				assert.Equal(t, want, ranks)
				assert.Equal(t, nodesOf(t, theirs, len(ranks)), nodesOf(t, ours, len(ranks)))
			}
			ranks, _ := placements(t, []string{"-rmk", "user", "placed"})
			assert.Len(t, ranks, 1, "this host alone")
			ranks, _ = placements(t, []string{"-hosts", "x:2", "placed"})
			assert.Contains(t, ranks[1], " on x,")
		})
	}
	_, code := runJob(t, "-rmk", "pbs", "true")
	assert.Equal(t, 255, code)
}
