// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindHosts(t *testing.T) {
	s := Site{Host: "self", Environ: []string{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=3(x2)"}}
	require.NoError(t, s.FindHosts(HostOptions{}))
	assert.Len(t, s.Hosts, 2)
	assert.Equal(t, "slurm", s.Manager.Name)
	plan, err := New(segments(HostOptions{}, 0), s)
	require.NoError(t, err)
	assert.Equal(t, "n1=0-2 n2=3-5", layout(plan))

	require.NoError(t, s.FindHosts(HostOptions{List: "a", File: "/nowhere"}))
	assert.Equal(t, "a", s.Hosts[0].Name)
	assert.Equal(t, "slurm", s.Manager.Name, "it still starts the proxies")

	alone := Site{Host: "self", Environ: s.Environ}
	require.NoError(t, alone.FindHosts(HostOptions{RMK: "user"}))
	assert.Empty(t, alone.Hosts)
	assert.Empty(t, alone.Manager.Name)
	assert.EqualError(t, alone.FindHosts(HostOptions{RMK: "pbs"}), "option -rmk: PBS_NODEFILE is not set: this is no job of pbs")
}
