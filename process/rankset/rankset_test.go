// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func environ(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestRankSetWithoutLauncher(t *testing.T) {
	s, err := Parse(environ())
	require.NoError(t, err)
	assert.Equal(t, &Set{Size: 1, Ranks: []int{0}, LocalRanks: 1, ControlFD: -1}, s)
	assert.Equal(t, []string{"UCX_HANDLE_ERRORS=none", "UCX_DEBUG_SIGNO=0", "HWLOC_PLUGINS_BLACKLIST=hwloc_gl.so,hwloc_opencl.so,hwloc_xml_libxml.so", "UCX_MM_RX_BUFS_GROW=65"}, s.Environment(0, environ()))
}

func TestRankSetOfHydra(t *testing.T) {
	s, err := Parse(environ("PMI_FD", "8", "PMI_RANK", "3", "PMI_SIZE", "4", "MPI_LOCALNRANKS", "4", "MPI_LOCALRANKID", "3"))
	require.NoError(t, err)
	assert.Equal(t, []int{3}, s.Ranks)
	assert.Equal(t, 4, s.LocalRanks)
	assert.Equal(t, []string{"PMI_FD=8", "PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=3"},
		s.Environment(0, environ("UCX_HANDLE_ERRORS", "bt", "UCX_DEBUG_SIGNO", "SIGHUP", "HWLOC_PLUGINS_BLACKLIST", "none.so", "UCX_MM_RX_BUFS_GROW", "512")))
}

func TestRankSetOfSeveral(t *testing.T) {
	s, err := Parse(environ("PMI_FD", "7,9", "PMI_RANK", "2,3", "PMI_SIZE", "8",
		"MPI_LOCALNRANKS", "4", "MPI_LOCALRANKID", "0,1", "TPSL_CPUS", "0-1;2,4", "TPSL_CONTROL_FD", "11"))
	require.NoError(t, err)
	assert.Equal(t, &Set{Size: 8, Ranks: []int{2, 3}, PMI: []string{"7", "9"}, LocalRanks: 4,
		LocalIDs: []string{"0", "1"}, CPUs: []string{"0-1", "2,4"}, ControlFD: 11, Peers: true}, s)
	assert.Contains(t, s.Environment(1, environ()), "PMI_RANK=3")
	assert.Contains(t, s.Environment(1, environ()), "PMI_FD=9")
	assert.Contains(t, s.Environment(1, environ()), "MPI_LOCALRANKID=1")
}

// Clients of a PMIx server have no sessions here. Each finds its own number, and what suits Open MPI in a shared address space.
func TestRankSetOfPMIx(t *testing.T) {
	env := environ("PMIX_RANK", "2,3", "PMIX_NAMESPACE", "job", "MPI_LOCALNRANKS", "2", "MPI_LOCALRANKID", "0,1", "TPSL_CONTROL_FD", "3", "TPSL_STDIO", "1,2;4,5")
	s, err := Parse(env)
	require.NoError(t, err)
	assert.Equal(t, &Set{Ranks: []int{2, 3}, PMIx: true, LocalRanks: 2, LocalIDs: []string{"0", "1"}, Stdio: []Streams{{-1, 1, 2}, {-1, 4, 5}}, ControlFD: 3}, s)
	own := s.Environment(1, env)
	assert.Subset(t, own, []string{"PMIX_RANK=3", "MPI_LOCALRANKID=1", "OMPI_MCA_memory=^patcher"})
	assert.NotContains(t, strings.Join(own, " "), "PMI_")
	assert.NotContains(t, strings.Join(s.Environment(1, environ("OMPI_MCA_memory", "patcher")), " "), "OMPI_MCA_memory", "the user has set it")

	_, err = Parse(environ("PMIX_RANK", "2,3", "TPSL_CPUS", "0"))
	assert.EqualError(t, err, "environment: TPSL_CPUS has 1 entries for 2 ranks in PMIX_RANK")
	_, err = Parse(environ("PMIX_RANK", "2,x"))
	assert.ErrorContains(t, err, `PMIX_RANK="x"`)
}

// Settings of each rank reach its instance; the process has no such variables.
func TestSettingsOfRanks(t *testing.T) {
	env := environ("PMI_FD", "7,9,11", "PMI_RANK", "0,1,2", "PMI_SIZE", "3",
		"TPSL_ENV", "UCX_NET_DEVICES=mlx5_0:1 ZE_AFFINITY_MASK=0.0,0.1;;UCX_NET_DEVICES=mlx5_1:1")
	s, err := Parse(env)
	require.NoError(t, err)
	assert.Subset(t, s.Environment(0, env), []string{"UCX_NET_DEVICES=mlx5_0:1", "ZE_AFFINITY_MASK=0.0,0.1"})
	assert.NotContains(t, strings.Join(s.Environment(1, env), " "), "UCX_NET_DEVICES")
	assert.Contains(t, s.Environment(2, env), "UCX_NET_DEVICES=mlx5_1:1")
}

// One copy begins earlier where all ranks of the job share an address space, unless the
// user has said where.
func TestOneCopyThreshold(t *testing.T) {
	for _, c := range []struct {
		name, fds, ranks, size, spawned, users string
		want                                   []string
	}{
		{"one process", "7,9", "0,1", "2", "", "", []string{"UCX_RNDV_THRESH=8192"}},
		{"the user's", "7,9", "0,1", "2", "", "64k", nil},
		{"two processes", "7,9", "0,1", "4", "", "", nil},
		{"spawned", "7,9", "0,1", "2", "1", "", nil},
		{"one rank", "7", "0", "1", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := environ("PMI_FD", c.fds, "PMI_RANK", c.ranks, "PMI_SIZE", c.size, "PMI_SPAWNED", c.spawned, "UCX_RNDV_THRESH", c.users)
			s, err := Parse(env)
			require.NoError(t, err)
			others := func(setting string) bool { return !strings.HasPrefix(setting, "UCX_RNDV_THRESH") }
			assert.ElementsMatch(t, c.want, slices.DeleteFunc(s.Environment(0, env), others))
		})
	}
}

// Where the launcher does not say how many ranks the host has, others may be there.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		local string
		ranks string
		fds   string
		want  bool
	}{
		{"", "0", "7", true}, {"", "0,1,2", "7,8,9", false}, {"2", "0,1", "7,8", false}, {"3", "0,1", "7,8", true},
	} {
		s, err := Parse(environ("PMI_FD", c.fds, "PMI_RANK", c.ranks, "PMI_SIZE", "3", "MPI_LOCALNRANKS", c.local))
		require.NoError(t, err)
		assert.Equal(t, c.want, s.Peers, "%+v", c)
	}
	s, err := Parse(environ("PMI_ID", "2"))
	require.NoError(t, err)
	assert.Equal(t, []int{2}, s.Ranks)
	assert.True(t, s.Peers)
}

// The launcher says whether all processes of the job are like this one.
func TestAlike(t *testing.T) {
	for word, want := range map[string]bool{"": false, "1": true, "0": false} {
		s, err := Parse(environ("PMI_FD", "7", "PMI_RANK", "4", "PMI_SIZE", "5", "TPSL_ALIKE", word))
		require.NoError(t, err)
		assert.Equal(t, want, s.Alike, word)
	}
}

func TestBadRankSets(t *testing.T) {
	good := []string{"PMI_FD", "7,9", "PMI_RANK", "2,3", "PMI_SIZE", "8"}
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"rank is no number": {[]string{"PMI_RANK", "2,x"}, "PMI_RANK"},
		"empty entry":       {[]string{"PMI_FD", "7,"}, "PMI_FD"},
		"too few fds":       {[]string{"PMI_FD", "7"}, "PMI_FD has 1 entries for 2 ranks"},
		"too many CPU sets": {[]string{"TPSL_CPUS", "0;1;2"}, "TPSL_CPUS has 3 entries"},
		"rank beyond size":  {[]string{"PMI_SIZE", "3"}, "rank 3"},
		"no size":           {[]string{"PMI_SIZE", ""}, "PMI_SIZE"},
		"negative":          {[]string{"PMI_RANK", "-1,0"}, "PMI_RANK"},
		"too few settings":  {[]string{"TPSL_ENV", "A=1"}, "TPSL_ENV has 1 entries for 2 ranks"},
		"no setting":        {[]string{"TPSL_ENV", "A=1;B"}, "TPSL_ENV"},
		"no name":           {[]string{"TPSL_ENV", "=1;B=1"}, "TPSL_ENV"},
		"control fd":        {[]string{"TPSL_CONTROL_FD", "one"}, "TPSL_CONTROL_FD"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(environ(append(append([]string(nil), good...), c.set...)...))
			require.Error(t, err)
			assert.ErrorContains(t, err, c.says)
		})
	}
}
