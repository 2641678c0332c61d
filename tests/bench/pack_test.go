// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// hidden runs a packed tree where neither this repository nor the packages that it was made of can be seen: in a
// mount namespace, their files are empty. $1 is the repository, $2 the tree.
const hidden = `set -e
for file in /usr/lib/*/lib{mpi,uc,hwloc,slurm,gomp}*.so* /usr/bin/{mpiexec,mpirun,mpicc,mpichversion,hydra,gcc,make}*; do
	[ -L "$file" ] || [ ! -f "$file" ] || mount --bind /dev/null "$file"
done
for folder in /usr/lib/*/ucx "$1"; do mount -t tmpfs none "$folder"; done
cd /
! mpiexec.hydra true 2>/dev/null
exec "$2"/run -quick -runs 1 -only 'latency (flat|tpsl|private).*-n 2 |Launch'
`

func TestPackedTree(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "unshare", "tar", "mpiexec.hydra")
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "only root may make mount namespaces")
	}
	testsupport.Benchmarks(t)
	root := testsupport.Build(t)
	t.Chdir(root)
	dir := t.TempDir()
	file := filepath.Join(dir, "bench.tar.gz")
	_, errOut, code := testsupport.Run(t, 8*time.Minute, nil, "scripts/bench", "-pack", file)
	require.Zero(t, code, errOut)
	_, errOut, code = testsupport.Run(t, 3*time.Minute, nil, "tar", "-xf", file, "-C", dir)
	require.Zero(t, code, errOut)

	tree := filepath.Join(dir, "tpsl-bench")
	out, errOut, code := testsupport.Run(t, 8*time.Minute, nil, "unshare", "--mount", "bash", "-c", hidden, "hidden", root, tree)
	require.Zero(t, code, "%s\n%s", out, errOut)
	raw, err := filepath.Glob(tree + "/build/bench/results/*/raw.txt")
	require.NoError(t, err)
	require.Len(t, raw, 1)
	f, err := os.Open(raw[0])
	require.NoError(t, err)
	defer f.Close()
	found, err := results.Read(f)
	require.NoError(t, err)
	for _, w := range []way{flat, tpslThreads, tpslProcesses, privateThreads} {
		assert.Contains(t, found.Values, w.of("Latency", 1, 8))
	}
	assert.Contains(t, found.Setting("mpi-library"), "libmpich.so.12 (build ID ")
	assert.Contains(t, found.Setting("mpich"), "ch4")
	assert.Contains(t, found.Names(), "Launch/by=mpiexec.hydra/ranks=16")
}

func TestPackRefuses(t *testing.T) {
	t.Chdir("../..")
	for _, args := range [][]string{{}, {"x.zip"}, {"a.tar.gz", "b.tar.gz"}} {
		_, errOut, code := testsupport.Run(t, time.Minute, nil, append([]string{"scripts/pack-bench"}, args...)...)
		assert.Equal(t, 1, code)
		assert.Equal(t, "pack-bench: usage: pack-bench FILE.tar.gz|FILE.tar.zst\n", errOut)
	}
}
