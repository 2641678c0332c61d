// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A process that cannot have so many ranks says so before MPI starts, with the
// number needed and the limit.
func TestTooManyMappings(t *testing.T) {
	testsupport.NothingLeft(t)
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	require.NoError(t, err)
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	var files unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	ranks := limit/66 + 1 // with 70 for each rank, or 120 for a private one, that is too many
	if needed := uint64(13*ranks + 1000); files.Max < needed || ranks > 2000 {
		testsupport.Unable(t, "vm.max_map_count=%d takes %d ranks to exceed, and RLIMIT_NOFILE is %d", limit, ranks, files.Max)
	}
	// One thread claims a slot; that is enough to find out.
	job := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, fmt.Sprintf("-n %d -rpp %d", ranks, ranks), fixture(t, "brief"))
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", fmt.Sprintf("rank 0: %d ranks need about ", ranks), fmt.Sprintf("but vm.max_map_count is %d", limit), "sysctl vm.max_map_count=", "smaller -rpp")

	job = mpiexec(t, nil, fmt.Sprintf("-n %d -rpp %d", ranks, ranks), flat(t, "../../examples/hello.c"))
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", fmt.Sprintf("tpsl: %d ranks need about ", ranks), fmt.Sprintf("but vm.max_map_count is %d", limit), "sysctl vm.max_map_count=", "smaller -rpp")
}

// The host of private ranks looks at limits before any of them runs.
func TestPrivateLimits(t *testing.T) {
	hello := flat(t, "../../examples/hello.c")
	for _, c := range []struct {
		limit, ranks string
		says         []string
	}{
		{"-S -n 19", "2", []string{"a rank needs about 20 file descriptors, but the limit is 19: raise it with ulimit -n 40"}},
		{"-v 2100000", "8", []string{"8 ranks need about ", " MiB of address space in all, but the limit is 2050: raise it with ulimit -v ", "-rpp"}},
		{"-d 140000", "8", []string{"8 ranks need about ", " MiB of data in all, but the limit is 136: raise it with ulimit -d ", "-rpp"}},
		{"-v 1900000", "2", []string{"address-space limit of 1855 MiB (ulimit -v) is too small: 2048 MiB are needed; raise it"}},
	} {
		t.Run(c.limit, func(t *testing.T) {
			testsupport.NothingLeft(t)
			line := "ulimit " + c.limit + `; exec "$0" -n "$1" -rpp "$1" "$2"`
			job := run(t, nil, "bash", "-c", line, built(t, "bin/mpiexec"), c.ranks, hello)
			assert.Equal(t, 1, job.code)
			oneLine(t, job, "tpsl", c.says...)
		})
	}
}

// Without a launcher: bash sets the limit and becomes the program.
func TestLimits(t *testing.T) {
	program := fixture(t, "brief")
	for _, c := range []struct {
		limit string
		says  []string
	}{
		{"-n 12", []string{"rank 0: a rank needs about ", " file descriptors, but the limit is 12", "raise it with ulimit -n "}},
		{"-v 2100000; export PMI_FD=90,91,92,93,94,95,96,97,98,99 PMI_RANK=0,1,2,3,4,5,6,7,8,9 PMI_SIZE=10", []string{
			"10 ranks need about ", " MiB of address space in all, but the limit is 2050: raise it with ulimit -v ", "-rpp"}},
		{"-d 140000; export PMI_FD=90,91,92,93,94,95,96,97,98,99 PMI_RANK=0,1,2,3,4,5,6,7,8,9 PMI_SIZE=10", []string{
			"10 ranks need about ", " MiB of data in all, but the limit is 136: raise it with ulimit -d ", "-rpp"}},
		{"-d 50000", []string{"data limit of 48 MiB (ulimit -d) is too small: 128 MiB are needed; raise it"}},
		{"-v 1000000", []string{"address-space limit of 976 MiB (ulimit -v) is too small", "2048 MiB are needed; raise it"}},
	} {
		t.Run(c.limit, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := run(t, []string{"OMP_NUM_THREADS=1"}, "bash", "-c", "ulimit "+c.limit+"; exec "+program)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl", c.says...)
		})
	}
}

// mpiexec tells that its data are limited too much, unless there is not even enough for its start.
func TestDataLimit(t *testing.T) {
	testsupport.NothingLeft(t)
	job := run(t, nil, "bash", "-c", `ulimit -d 100000; exec "$0" -n 2 -rpp 2 "$1"`, built(t, "bin/mpiexec"), fixture(t, "brief"))
	assert.Equal(t, 255, job.code)
	oneLine(t, job, "mpiexec", "mpiexec: the data limit of 97 MiB (ulimit -d) is too small: 128 MiB are needed; raise it")
}

// TPSL_Run sees what the ranks of the call need of the data that the process may have.
func TestRunDataLimit(t *testing.T) {
	testsupport.NothingLeft(t)
	job := run(t, nil, "bash", "-c", "ulimit -d 140000; exec "+runs(t)+" ranks 8")
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "8 ranks need about ", " MiB of data in all, but the limit is 136: raise it with ulimit -d ", "use a smaller number of ranks")
}

// What ranks need cannot be compared with what there is where nothing tells it.
func TestWithoutProc(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "unshare")
	alone := func(argv ...string) outcome {
		return run(t, []string{"OMP_NUM_THREADS=1"}, append([]string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"}, argv...)...)
	}
	if job := alone("true"); job.code != 0 {
		t.Skipf("a folder without /proc needs a namespace of mounts: %s", job.stderr) // TestCheckWithoutProc has the words
	}
	job := alone(fixture(t, "brief"))
	assert.Equal(t, 1, job.code)
	assert.Empty(t, job.stdout)
	oneLine(t, job, "tpsl", "rank 0: ", "/proc/self", "mount /proc")
}

// The soft limit of files is raised where it may be: no user has to.
func TestSoftLimitIsRaised(t *testing.T) {
	testsupport.NothingLeft(t)
	job := run(t, []string{"OMP_NUM_THREADS=1"}, "bash", "-c", "ulimit -S -n 12; exec "+fixture(t, "brief")).succeeded(t)
	assert.Equal(t, "brief: done\n", job.stdout)
}

// An environment that contradicts itself is not guessed at.
func TestEnvironment(t *testing.T) {
	program := fixture(t, "brief")
	for _, c := range []struct{ env, says string }{
		{"PMI_FD=3,4 PMI_RANK=0 PMI_SIZE=2", "PMI_FD has 2 entries for 1 rank"},
		{"PMI_FD=3 PMI_RANK=0,1 PMI_SIZE=2", "PMI_FD has 1 entries for 2 ranks in PMI_RANK"},
		{"PMI_FD=3 PMI_RANK=2 PMI_SIZE=2", "PMI_RANK names rank 2, but PMI_SIZE is 2"},
		{"PMI_FD=3 PMI_RANK= PMI_SIZE=2", `PMI_RANK="": want a number`},
		{"PMI_FD=x PMI_RANK=0 PMI_SIZE=2", `PMI_FD="x": want a number`},
		{"PMI_FD=3 PMI_RANK=0 PMI_SIZE=-2", `PMI_SIZE="-2": want a number`},
		{"PMI_FD=3,4 PMI_RANK=0,1 PMI_SIZE=2 TPSL_CPUS=0", "TPSL_CPUS has 1 entries for 2 ranks in PMI_RANK"},
		{"TPSL_INIT_TIMEOUT=soon", `TPSL_INIT_TIMEOUT="soon": want a number`},
	} {
		t.Run(c.env, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := run(t, append(strings.Fields(c.env), "OMP_NUM_THREADS=1"), program)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl", c.says)
		})
	}
}
