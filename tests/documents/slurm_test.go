// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The job scripts run in a real Slurm of two nodes, with the ranks and processes that each of them says.
func TestSlurmScripts(t *testing.T) {
	testsupport.Require(t, "sbatch", "mpicc.mpich")
	testsupport.NothingLeft(t)
	slurm := testsupport.Slurm(t, 2, 4)
	bin := filepath.Join(testsupport.Build(t), "bin")
	folder := filepath.Join(testsupport.Root(t), "examples", "slurm")
	threads, flat := testsupport.CC(t, "tpslcc", "testdata/where.c", "-fopenmp"), testsupport.CC(t, "mpicc.mpich", "testdata/where.c")
	scripts := map[string]struct {
		program    string
		ranks      int
		perProcess int    // as the kernel sees processes: a private rank is one
		executable string // of the processes
	}{
		"flat.sh":    {flat, 4, 1, "where"},
		"private.sh": {flat, 8, 1, "host"},
		"shared.sh":  {threads, 8, 4, "where"},
	}
	for script, c := range scripts {
		t.Run(script, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			argv := slurm.Inside("env", "PATH="+bin+":"+os.Getenv("PATH"), "sbatch", "--wait", "-o", out, filepath.Join(folder, script), c.program)
			_, stderr, code := testsupport.Run(t, limit, nil, argv...)
			said, err := os.ReadFile(out)
			require.NoError(t, err, stderr)
			require.Zero(t, code, "%s%s", said, stderr)

			ranksOf, ranks := map[string]int{}, 0
			for line := range strings.Lines(string(said)) {
				words := strings.Fields(line) // rank R of N in process P of EXECUTABLE
				require.Len(t, words, 9, "%s", said)
				assert.Equal(t, c.executable, words[8])
				ranksOf[words[6]]++
				ranks++
			}
			assert.Equal(t, c.ranks, ranks, "%s", said)
			for process, n := range ranksOf {
				assert.Equal(t, c.perProcess, n, "process %s: %s", process, said)
			}
		})
	}

	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.True(t, slices.EqualFunc(entries, []string{"flat.sh", "private.sh", "shared.sh"}, func(e os.DirEntry, name string) bool {
		return e.Name() == name
	}), "a script that is not run: %v", entries)
}
