// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// overLoopback makes ranks of two nodes that are one machine find each other. Open MPI does not use its own TCP there.
var overLoopback = []string{
	"OMP_NUM_THREADS=1", "OMPI_MCA_pml=ucx", "OMPI_MCA_pml_ucx_tls=any", "OMPI_MCA_pml_ucx_devices=any", "UCX_NET_DEVICES=lo", "OMPI_MCA_btl=self",
}

// Tasks of a real Slurm that PMIx serves share processes, in whichever order ranks lie on the nodes. What differs from PMI is
// refused in one line, and ends the job.
func TestForeignPMIxOfSlurm(t *testing.T) {
	testsupport.NothingLeft(t)
	slurm := testsupport.Slurm(t, 2, 4)
	daemons := stillRunning(slurm, nil)
	srun := func(options string, program ...string) outcome {
		options = "-Q -l " + options
		return run(t, nil, slurm.Inside(slices.Concat([]string{"env"}, overLoopback, []string{"srun"}, strings.Fields(options), program)...)...)
	}
	hello := flatOpenMPI(t, "../../examples/hello.c")

	for _, order := range []string{"block", "cyclic"} {
		labels, processes := greetings(t, srun("--mpi=pmix --ntasks-per-node=3 -N 2 -m "+order, shared(t, "-rpp 2", hello)...), 6)
		assert.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, labels, order)
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(processes))), 6, order) // private ranks are processes
	}
	job := srun("--mpi=pmix -n 2 -N 1 -w n1", shared(t, "-rpp 2 -tpsl private", "/bin/bash", "-c", "echo $PMIX_RANK $SLURM_PROCID $SLURM_LOCALID; exit $((PMIX_RANK + 3))")...)
	assert.Equal(t, 4, job.code)
	assert.Equal(t, []string{"0: 0 0 0\n", "1: 1 1 1\n"}, inOrder(job.stdout))
	assert.Equal(t, []string{"srun: error: n1: task 0: Exited with exit code 3\n", "srun: error: n1: task 1: Exited with exit code 4\n"}, inOrder(job.stderr))

	job = srun("--mpi=pmix --ntasks-per-node=2 -N 2", shared(t, "-rpp 2", "/nowhere")...)
	assert.Equal(t, 255, job.code)
	assert.Regexp(t, `(?m)^[02]: tpsl run: rank [02]: cannot run /nowhere on \S+: no such file or directory$`, job.stderr)
	job = srun("--mpi=pmix -n 2 -N 1", shared(t, "-rpp 2", flat(t, "../../examples/hello.c"))...)
	assert.Equal(t, 255, job.code)
	assert.Regexp(t, `(?m)^0: tpsl run: rank 0: cannot run \S+ on \S+: its MPI library \(\S+\) speaks PMI, and the launcher PMIx; start with srun --mpi=pmi2 or tpsl's mpiexec$`, job.stderr)
	for _, argv := range [][]string{shared(t, "-rpp 2", example(t, "hello")), {example(t, "hello")}} {
		job = srun("--mpi=pmix -n 2 -N 1", argv...)
		assert.NotZero(t, job.code)
		assert.Regexp(t, `(?m)^\d: tpsl: rank \d: \S+ speaks PMI, and the launcher serves PMIx to its ranks: each would be a job of one; start with srun --mpi=pmi2 or tpsl's mpiexec$`, job.stderr)
	}
	greetings(t, srun("--mpi=pmix -n 1 -N 1", example(t, "hello")), 1)
	job = srun("--mpi=pmi2 -n 2 -N 1", shared(t, "-rpp 2", hello)...)
	assert.Equal(t, 255, job.code)
	assert.Regexp(t, `(?m)^0: tpsl run: rank 0: cannot run \S+ on \S+: it is linked with Open MPI \(libmpi.so.40\), which needs PMIx, and the launcher offers PMI; start with srun --mpi=pmix or tpsl's mpiexec$`, job.stderr)
	assert.Eventually(t, func() bool { return len(stillRunning(slurm, daemons)) == 0 }, limit, 20*time.Millisecond)
}

// A rank that ends as others do not ends the job as that of processes ends: with the same exit code, and all lines.
func TestForeignPMIxEnds(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "mpirun.openmpi")
	slurm := testsupport.Slurm(t, 1, 4)
	program := openMPIProgram(t)
	launchers := map[string][]string{
		"srun":   slurm.Inside("srun", "-Q", "-N1", "-n4", "--mpi=pmix"),
		"mpirun": {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4"},
	}
	for name, launcher := range launchers {
		for _, c := range endsOfOpenMPI {
			t.Run(name+" rank 1 "+c.how, func(t *testing.T) {
				processes := run(t, nil, slices.Concat(launcher, []string{program, c.how})...)
				sets := run(t, nil, slices.Concat(launcher, shared(t, "-rpp 2", program, c.how))...)
				assert.Equal(t, processes.code, sets.code, sets.stderr)
				assert.Equal(t, inOrder(processes.stdout), inOrder(sets.stdout))
				if name == "srun" { // mpirun shows the ranks' messages itself, and loses this one now and then, also of flat ranks
					assert.Equal(t, c.how == "abort", strings.Contains(sets.stderr, "MPI_ABORT was invoked on rank 1 "), sets.stderr)
				}
			})
		}
	}
}
