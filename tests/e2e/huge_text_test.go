// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pagetables"
)

// restingWith starts a job of two ranks that have talked, and rest.
func restingWith(t *testing.T, env []string, mode, program string) (*pagetables.Process, *background) {
	t.Helper()
	job := start(t, env, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-tpsl", mode, program, "talk")
	_, err := job.out.ReadString('\n')
	require.NoError(t, err)
	all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
	require.Empty(t, errs)
	require.Len(t, all, 1)
	t.Cleanup(func() {
		_ = job.Process.Signal(os.Interrupt)
		_ = job.Wait()
	})
	return all[0], job
}

// restingInHugePages is restingWith by TPSL_TEXT=huge. Where the kernel has no huge page just now, the job is started again.
func restingInHugePages(t *testing.T, mode, program string) *pagetables.Process {
	t.Helper()
	for try := 1; ; try++ {
		p, job := restingWith(t, []string{"TPSL_TEXT=huge"}, mode, program)
		said := readText(t, job.said)
		none := strings.Contains(said, unix.ENOMEM.Error()) || strings.Contains(said, unix.EAGAIN.Error())
		if !none || try == 30 {
			return p
		}
		require.NoError(t, job.Process.Signal(os.Interrupt))
		_ = job.Wait()
		time.Sleep(time.Second)
	}
}

// With TPSL_TEXT=huge the ranks of both modes run the text of the MPI library from one copy in huge pages; the rest is
// as it was.
func TestHugeText(t *testing.T) {
	for mode, program := range map[string]string{"shared": fixture(t, "rest"), "private": restingProcess(t)} {
		t.Run(mode, func(t *testing.T) {
			testsupport.NothingLeft(t)
			p := restingInHugePages(t, mode, program)
			huge := map[string]uint64{}
			for _, row := range p.Rows {
				if row.Huge > 0 && row.Owner.Kind == pagetables.OfRank {
					assert.Equal(t, mappedMPICH(t)+" text", row.Object+" "+row.Segment)
					huge[row.Owner.String()] += row.Huge
				}
			}
			assert.Len(t, huge, 2, "%+v", p.Rows)
			assert.Positive(t, huge["rank 0"])
			assert.Equal(t, huge["rank 0"], huge["rank 1"])
			proof, err := pagetables.Proc("/proc").Prove(p)
			if err != nil {
				testsupport.Unable(t, "%v", err)
			}
			assert.True(t, proof.Holds(), "%+v", proof)
		})
	}
}

// Where the kernel refuses, one line of each process says so, and the job runs on.
func TestHugeTextRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	shared, private := fixture(t, "share"), flat(t, "testdata/yields.c")
	limited := func(n string, program string) outcome {
		return run(t, []string{"TPSL_TEXT=huge", "OMP_NUM_THREADS=" + n}, "sh", "-c", "ulimit -f 16384; exec "+built(t, "bin/mpiexec")+" -n 2 -rpp 2 "+program+" </dev/null")
	}
	for _, job := range []outcome{limited("2", shared), limited("1", private)} {
		require.Zero(t, job.code, job.stderr)
		assert.Equal(t, 1, strings.Count(job.stderr, "tpsl:"), job.stderr)
		assert.Regexp(t, `^tpsl: text of libmpich\.so\.12 in huge pages: \d+ bytes are more than ulimit -f allows: it stays in small ones\n$`, job.stderr)
	}
	for _, program := range []string{shared, private} {
		job := run(t, []string{"TPSL_TEXT=large"}, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program)
		assert.Equal(t, 1, job.code)
		assert.Contains(t, job.stderr, `environment: TPSL_TEXT="large": want file or huge`)
	}
}
