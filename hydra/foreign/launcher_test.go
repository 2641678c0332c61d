// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// environment makes a getenv of settings.
func environment(settings ...string) func(string) string {
	return func(name string) string {
		for _, setting := range settings {
			if n, value, _ := strings.Cut(setting, "="); n == name {
				return value
			}
		}
		return ""
	}
}

// session returns one end of a socket as launchers make them.
func session(t *testing.T) string {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { closeAll(fds[:]) })
	return "PMI_FD=" + strconv.Itoa(fds[0])
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		env                       []string
		rank, size, place, places int
		first, last               int // of its set of two
	}{
		"hydra":                {[]string{"PMI_RANK=5", "PMI_SIZE=7", "MPI_LOCALNRANKS=3", "MPI_LOCALRANKID=2"}, 5, 7, 2, 3, 2, 2},
		"slurm":                {[]string{"PMI_RANK=4", "PMI_SIZE=6", "SLURM_GTIDS=0,2,4", "SLURM_LOCALID=1"}, 4, 6, 1, 3, 0, 1},
		"hydra in a slurm job": {[]string{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1", "SLURM_GTIDS=0", "SLURM_LOCALID=0"}, 1, 2, 1, 2, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Find(environment(append(c.env, session(t))...))
			require.NoError(t, err)
			assert.Equal(t, []int{c.rank, c.size, c.place, c.places}, []int{m.Rank, m.Size, m.local, m.localRanks})
			assert.Equal(t, []int{c.first, c.last}, []int{m.first(2), m.last(2)})
		})
	}
	for name, c := range map[string][]string{
		"slurm":   {"SLURM_STEP_NUM_TASKS=6", "SLURM_GTIDS=0,2,4", "SLURM_LOCALID=1"},
		"orterun": {"OMPI_COMM_WORLD_SIZE=6", "SLURM_STEP_NUM_TASKS=9", "OMPI_COMM_WORLD_LOCAL_SIZE=3", "OMPI_COMM_WORLD_LOCAL_RANK=1", "SLURM_GTIDS=0", "SLURM_LOCALID=0"},
	} {
		t.Run("PMIx of "+name, func(t *testing.T) {
			m, err := Find(environment(append(c, "PMIX_NAMESPACE=job", "PMIX_RANK=2", "PMIX_SERVER_TMPDIR=/n1")...))
			require.NoError(t, err)
			assert.Equal(t, &Member{Rank: 2, Size: 6, local: 1, localRanks: 3, server: "namespace job at /n1", session: noSession}, m)
		})
	}
	for _, env := range [][]string{nil, {"SLURM_NTASKS=4", "SLURM_PROCID=0"}, {"PMIX_NAMESPACE=x", "SLURM_STEP_NUM_TASKS=1"}} {
		m, err := Find(environment(env...))
		require.NoError(t, err)
		assert.Nil(t, m, "%v", env)
	}
}

func TestFindErrors(t *testing.T) {
	world := []string{"PMI_RANK=1", "PMI_SIZE=2"}
	for want, env := range map[string][]string{
		"rank 1: the launcher does not say which ranks are on this host: none of MPI_LOCALNRANKS, OMPI_COMM_WORLD_LOCAL_SIZE and SLURM_GTIDS is set; use -rpp 1": world,
		"rank 1: the launcher does not say which ranks are on this host: place 2 of 2; use -rpp 1":                                                               {"MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=2"},
		`rank 1: the launcher does not say which ranks are on this host: strconv.Atoi: parsing "": invalid syntax; use -rpp 1`:                                   {"MPI_LOCALNRANKS=2"},
	} {
		_, err := Find(environment(append(append([]string{session(t)}, world...), env...)...))
		assert.EqualError(t, err, want)
	}
	for want, env := range map[string][]string{
		"PMIX_RANK=0,1 is a rank set already; leave tpsl run or the launcher's -rpp out":                                                                          {"PMIX_RANK=0,1"},
		"this is a part of a heterogeneous step, of which PMIx does not tell which ranks are on this host; use -rpp 1":                                            {"PMIX_RANK=0", "SLURM_HET_SIZE=2", "SLURM_STEP_NUM_TASKS=1"},
		`PMIX_RANK="": want a number from 0, as launchers set it`:                                                                                                 nil,
		"rank 1: the launcher speaks PMIx, but does not say how many ranks the job has: neither SLURM_STEP_NUM_TASKS nor OMPI_COMM_WORLD_SIZE is set; use -rpp 1": {"PMIX_RANK=1"},
	} {
		_, err := Find(environment(append(env, "PMIX_NAMESPACE=job")...))
		assert.EqualError(t, err, want)
	}
}

// All sessions of one server name the same job.
func TestServer(t *testing.T) {
	env := []string{"PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=0"}
	a, err := Find(environment(append(env, session(t))...))
	require.NoError(t, err)
	b, err := Find(environment(append(env, session(t))...))
	require.NoError(t, err)
	assert.Equal(t, a.server, b.server)
	assert.Regexp(t, `^process \d+ born \d+$`, a.server)
}
