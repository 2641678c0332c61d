// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// pmixHosts starts hosts, each with its own /dev/shm, and returns what runs a step of a test on them: nothing may be left of it.
func pmixHosts(t *testing.T) (hosts []testsupport.Host, step func(name string, test func(t *testing.T))) {
	t.Helper()
	testsupport.NothingLeft(t)
	needsPMIxHelper(t)
	hosts = testsupport.Hosts(t, "a", "b", "c")
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1") // all hosts are on these CPUs
	return hosts, func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			test(t)
			left, err := filepath.Glob(folder + "/*")
			require.NoError(t, err)
			assert.Empty(t, left)
			for _, host := range hosts {
				left, err := os.ReadDir(host.Files("/dev/shm"))
				require.NoError(t, err)
				assert.Empty(t, left, host.Name)
			}
		})
	}
}

// Open MPI over TCP between hosts.
func TestPMIxHosts(t *testing.T) {
	hosts, step := pmixHosts(t)
	for options, ranks := range map[string]int{
		"-hosts a:2,b:2 -n 4":                                      4,
		"-fanout 1 -hosts b,c,a -n 3":                              3,
		"-genv OMPI_MCA_pmix_base_async_modex 1 -hosts a,b,c -n 3": 3, // values go when they are asked for
	} {
		step(options, func(t *testing.T) {
			assert.Equal(t, ringLines(ranks), from(t, hosts, "-l "+options, openMPIProgram(t)).succeeded(t).lines())
		})
	}
	step("spawn", func(t *testing.T) {
		o := from(t, hosts, "-hosts a,b -n 2", testsupport.CC(t, "mpicc.openmpi", "testdata/ompispawn.c")).succeeded(t)
		assert.Equal(t, []string{"2 parents, 2 children, sum 6, \"\"\n", "2 parents, 2 children, sum 6, \"two words\"\n"}, o.lines())
	})
}

// Who asks for a value of a host that is yet to start waits for it.
func TestPMIxLateHost(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "shell")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\n[ \"$4\" != b ] || sleep 1\nexec sh -c \"$5\"\n"), 0o755))
	o := pmixJob(t, "-pmi x -launcher ssh -launcher-exec "+shell+" -hosts a,b,c -n 3", pmixClient(t)).succeeded(t)
	assert.Len(t, o.lines(), 3)
}

func TestPMIxHostsFaults(t *testing.T) {
	hosts, step := pmixHosts(t)
	program := openMPIProgram(t)
	step("abort", func(t *testing.T) {
		o := from(t, hosts, "-hosts a,b,c -n 3", program, "abort")
		assert.Equal(t, 7, o.code)
		assert.Contains(t, o.stderr, "\nMPI_ABORT was invoked on rank 1 ")
		assert.Contains(t, o.stderr, "\nmpiexec: rank 1 on b called MPI_Abort: exit code 7\n")
	})
	step("killed", func(t *testing.T) {
		o := from(t, hosts, "-hosts a,b,c -n 3", program, "killed")
		assert.Equal(t, 9, o.code)
		assert.Contains(t, o.stderr, "mpiexec: rank 1 (")
	})
	step("helper killed", func(t *testing.T) { pmixHelperKilled(t, hosts) })
	step("cut off", func(t *testing.T) { pmixHostCutOff(t, hosts, program) })
	step("no libpmix", func(t *testing.T) { noLibpmix(t, hosts) })
}

// pmixHelperKilled kills the helper of another host while ranks run.
func pmixHelperKilled(t *testing.T, hosts []testsupport.Host) {
	job := begin(t, hosts, "-pmi x -hosts a,b,c -n 3", "sleep", "3600")
	job.await(t, 3, "^sleep 3600")
	helpers := guests(hosts[1:2], "/lib/tpsl/pmix kvs_")
	require.Len(t, helpers, 1)
	require.NoError(t, unix.Kill(helpers[0], unix.SIGKILL))
	code, said := job.end(t)
	assert.Equal(t, 255, code)
	assert.Equal(t, "mpiexec: serve PMIx on b: its helper lib/tpsl/pmix ended\n", said)
}

// pmixHostCutOff takes a host away while ranks wait in a barrier for one of it.
func pmixHostCutOff(t *testing.T, hosts []testsupport.Host, program string) {
	t.Setenv("TPSL_SILENCE", "5") // the others, with ranks that poll, must be heard meanwhile
	link := func(state string) {
		_, errOut, code := testsupport.Run(t, limit, nil, hosts[1].Inside("ip", "link", "set", "eth0", state)...)
		require.Zero(t, code, errOut)
	}
	job := begin(t, hosts, "-hosts a,b,c -n 3", program, "stopped")
	job.await(t, 3, "^/[^ ]*/openmpi stopped$")
	link("down")
	code := job.wait(t)
	link("up")
	quiet(t, hosts)
	assert.Equal(t, 255, code)
	assert.Equal(t, "mpiexec: proxy on b died (nothing was heard from it for 5s); rank 1 lost\n", job.errOut.String())
}

// noLibpmix takes libpmix away from a host.
func noLibpmix(t *testing.T, hosts []testsupport.Host) {
	found, err := filepath.EvalSymlinks("/usr/lib/x86_64-linux-gnu/libpmix.so.2")
	require.NoError(t, err)
	_, errOut, code := testsupport.Run(t, limit, nil, hosts[2].Inside("mount", "-t", "tmpfs", "none", filepath.Dir(found))...)
	require.Zero(t, code, errOut)
	o := from(t, hosts, "-pmi x -hosts b,c -n 2", "sleep", "3600")
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, `^mpiexec: serve PMIx on c: its helper lib/tpsl/pmix ended: .*libpmix\.so\.2.*; it needs the package libpmix2\n$`, o.stderr)
}
