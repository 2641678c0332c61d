// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// In an allocation of Slurm ranks are where srun puts its tasks, without -n and -hosts.
func TestAllocation(t *testing.T) {
	testsupport.NothingLeft(t)
	slurm := testsupport.Slurm(t, 3, 2)
	const both = `srun -Q --mpi=none -l sh -c 'echo on $SLURMD_NODENAME' | sed 's/^ *//; s/:/ is/' | sort -n; echo
		"$0" -l -launcher fork sh -c 'echo on $PMI_HOSTNAME' | sed 's/^\[\(.*\)\]/\1 is/' | sort -n`
	for _, options := range []string{"-N 3 -n 4", "-n 2 -c 2", "-N 2 --ntasks-per-node=2", "-w n[1,3] -N 2 -n 3"} {
		argv := append([]string{"salloc", "-Q"}, strings.Fields(options)...)
		job := run(t, nil, slurm.Inside(append(argv, "sh", "-c", both, built(t, "bin/mpiexec"))...)...).succeeded(t)
		theirs, ours, found := strings.Cut(job.stdout, "\n\n")
		assert.True(t, found && strings.HasPrefix(theirs, "0 is on n"), job.stdout)
		assert.Equal(t, theirs+"\n", ours, options)
	}
}
