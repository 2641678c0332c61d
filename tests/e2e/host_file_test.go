// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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

// A host file decides where ranks really run, as whom, and on which CPUs.
func TestHostFile(t *testing.T) {
	testsupport.NothingLeft(t)
	machines := testsupport.Hosts(t, "n01", "n02", "n03")
	file := filepath.Join(t.TempDir(), "hosts")
	launch := func(text string, options ...string) outcome {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		show := []string{"sh", "-c", "echo $(hostname) $PMI_HOSTNAME $MPI_LOCALRANKID/$MPI_LOCALNRANKS ${HYDRA_USER_PROVIDED_BINDING:-free}"}
		return run(t, nil, machines[0].Inside(slices.Concat([]string{built(t, "bin/mpiexec"), "-l", "-f", file}, options, show)...)...)
	}
	sorted := func(o outcome) []string {
		lines := strings.Split(strings.TrimSuffix(o.succeeded(t).stdout, "\n"), "\n")
		slices.Sort(lines)
		return lines
	}

	assert.Equal(t, []string{
		"[0] n02 n02 0/3 free", "[1] n03 n03 0/2 1", "[2] n03 n03 1/2 1",
		"[3] n01 n01 0/1 free", "[4] n02 n02 1/3 free", "[5] n02 n02 2/3 free",
	}, sorted(launch("n02\nn03:2 binding=user:0 user=root\nHYDRA_USE_LOCALHOST # n01\nn02:2\n", "-n", "6", "-rankmap", "0,1,1,2,0,0")))

	assert.Equal(t, []string{"[0] n02 n02 0/1 free", "[1] n03 n03 0/1 free"},
		sorted(launch("n[01-03]", "-skip-launch-node")))

	refused := launch("n01\nn02 user=nosuchuser\n")
	assert.Equal(t, 255, refused.code)
	assert.Contains(t, refused.stderr, "n02")
	assert.Contains(t, strings.ToLower(refused.stderr), "nosuchuser")
}
