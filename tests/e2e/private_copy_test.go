// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A copy between ranks of one address space is ours: it works where the kernel refuses
// copies between processes, which a flat job must hear. UCX then sends large messages by
// such copies (cma), and they arrive. A bad address is an error, as from the kernel.
func TestPrivateOneCopy(t *testing.T) {
	program := plain(t, "mpicc.mpich", "siblings.c", "-D_GNU_SOURCE")
	copied := []string{"rank 0: copied 1, no address: Bad address, null: Bad address, 0 wrong\n", "rank 1: copied 0, no address: Bad address, null: Bad address, 0 wrong\n"}
	refused := []string{
		"rank 0: Operation not permitted 0, no address: Operation not permitted, null: Operation not permitted, 0 wrong\n",
		"rank 1: Operation not permitted 0, no address: Operation not permitted, null: Operation not permitted, 0 wrong\n",
	}
	for _, c := range []struct {
		kernel, options string
		env             []string
		want            []string
	}{
		{"allowed", "-n 2 -rpp 2", nil, copied},
		{"refused", "-n 2 -rpp 2", []string{"UCX_LOG_LEVEL=info"}, copied},
		{"refused", "-n 2", shmOnly, refused},
	} {
		t.Run(c.kernel+" "+c.options, func(t *testing.T) {
			testsupport.NothingLeft(t)
			argv := slices.Concat(kernels(t)[c.kernel], []string{built(t, "bin/mpiexec")}, strings.Fields(c.options), []string{program})
			job := run(t, c.env, argv...)
			assert.Zero(t, job.code, job.stderr)
			own := func(line string) bool { return !strings.HasPrefix(line, "rank ") }
			assert.Equal(t, c.want, slices.DeleteFunc(job.lines(), own))
			if slices.Contains(c.env, "UCX_LOG_LEVEL=info") {
				assert.Regexp(t, `tag\(sysv/memory cma/memory\)`, job.stdout)
			}
		})
	}
}

// A rank that executes another program leaves the address space: its siblings ask the
// kernel from then on.
func TestPrivateRankExecutes(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicc.mpich", "siblings.c", "-D_GNU_SOURCE")
	assert.Equal(t, []string{
		"rank 0: copied 1, no address: Bad address, null: Bad address, 0 wrong\n",
		"rank 1: copied 0, no address: Bad address, null: Bad address, 0 wrong\n",
	}, mpiexec(t, nil, "-n 2 -rpp 2", program, "execute").succeeded(t).lines())
}
