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

// inOrder returns the lines of what srun says, in an order of their own: in which order tasks end is chance.
func inOrder(text string) []string { return slices.Sorted(strings.Lines(text)) }

// stillRunning lists the processes of a machine that have not ended, but for those known: nobody there waits for orphans.
func stillRunning(machine *testsupport.Namespace, known []int) []int {
	return slices.DeleteFunc(machine.Processes(), func(pid int) bool {
		return testsupport.CommandLine(pid) == "" || slices.Contains(known, pid)
	})
}

// Tasks of a real Slurm of two nodes share processes in either mode, in whichever order ranks lie on the nodes.
func TestForeignSlurm(t *testing.T) {
	testsupport.NothingLeft(t)
	slurm := testsupport.Slurm(t, 2, 4)
	daemons := stillRunning(slurm, nil)
	srun := func(env []string, options string, program ...string) outcome {
		return run(t, nil, slurm.Inside(slices.Concat(env, []string{"srun", "-Q", "-l"}, strings.Fields(options), program)...)...)
	}
	threads, hello := example(t, "hello"), flat(t, "../../examples/hello.c")

	labels, processes := greetings(t, srun(nil, "--mpi=pmi2 --ntasks-per-node=2 -N 2 -m cyclic", shared(t, "-rpp 2", threads)...), 4)
	assert.Equal(t, []string{"0", "1", "0", "1"}, labels)
	assert.Equal(t, processes[1], processes[3])
	labels, processes = greetings(t, srun(oneThread, "--mpi=pmi2 --ntasks-per-node=2 -N 2", shared(t, "-rpp 2", hello)...), 4)
	assert.Equal(t, []string{"0", "1", "2", "3"}, labels)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(processes))), 4)

	job := srun(nil, "--mpi=pmi2 -n 2 -N 1 -w n1", shared(t, "-rpp 2 -tpsl private", "/bin/bash", "-c", "echo $PMI_RANK $SLURM_PROCID $SLURM_LOCALID; exit $((PMI_RANK + 3))")...)
	assert.Equal(t, 4, job.code)
	assert.Equal(t, []string{"0: 0 0 0\n", "1: 1 1 1\n"}, job.lines())
	assert.Equal(t, []string{"srun: error: n1: task 0: Exited with exit code 3\n", "srun: error: n1: task 1: Exited with exit code 4\n"}, inOrder(job.stderr))
	job = srun(nil, "--mpi=pmi2 --ntasks-per-node=2 -N 2", shared(t, "-rpp 2", python(t), "-c", "import os, sys; print(os.environ['PMI_RANK'], sys.executable, 'TPSL_PYTHON' in os.environ)")...)
	assert.Equal(t, []string{"0: 0 /usr/bin/python3 False\n", "1: 1 /usr/bin/python3 False\n", "2: 2 /usr/bin/python3 False\n", "3: 3 /usr/bin/python3 False\n"}, job.succeeded(t).lines())
	job = srun(nil, "--mpi=pmi2 -n 2 -N 1", shared(t, "-rpp 2", "/nowhere")...)
	assert.Equal(t, 255, job.code)
	assert.Regexp(t, `(?m)^0: tpsl run: rank 0: cannot run /nowhere on \S+: no such file or directory$`, job.stderr)
	job = srun(nil, "--mpi=none -n 2 -N 1", shared(t, "-rpp 2", hello)...)
	assert.Contains(t, job.stderr, "0: tpsl run: this is one of 2 tasks, but the launcher offers no PMI; start with srun --mpi=pmi2 or --mpi=pmix\n")
	assert.Eventually(t, func() bool { return len(stillRunning(slurm, daemons)) == 0 }, limit, 20*time.Millisecond)
}
