// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is different on every host comes from there, unless the user has set it, or does not want it.
func TestHostEnv(t *testing.T) {
	here := []string{"A=1", "DISPLAY=:0", "SLURM_PROCID=9", "SLURMD_DEBUG=1", "PBS_JOBID=3", "TMPDIR=/here"}
	there := []string{"A=2", "DISPLAY=:1", "SLURM_PROCID=0", "PBS_JOBID=4", "TMPDIR=/there"}
	for _, tt := range []struct {
		launcher string
		inherit  []string
		genv     []string
		want     []string
	}{
		{"fork", nil, nil, here},
		{"ssh", nil, nil, []string{"A=1", "DISPLAY=:1", "SLURM_PROCID=9", "SLURMD_DEBUG=1", "PBS_JOBID=3", "TMPDIR=/here"}},
		{"", nil, nil, []string{"A=1", "DISPLAY=:1", "SLURM_PROCID=9", "SLURMD_DEBUG=1", "PBS_JOBID=3", "TMPDIR=/here"}},
		{"slurm", nil, nil, []string{"A=1", "DISPLAY=:0", "SLURM_PROCID=0", "PBS_JOBID=3", "TMPDIR=/here"}},
		{"slurm", nil, []string{"SLURM_PROCID=7"}, []string{"A=1", "DISPLAY=:0", "SLURM_PROCID=7", "PBS_JOBID=3", "TMPDIR=/here"}},
		{"pbs", nil, nil, []string{"A=1", "DISPLAY=:0", "SLURM_PROCID=9", "SLURMD_DEBUG=1", "PBS_JOBID=4", "TMPDIR=/here"}},
		{"slurm", []string{}, nil, []string{"TMPDIR=/here"}},
		{"slurm", []string{"SLURM_PROCID", "A"}, nil, []string{"A=1", "SLURM_PROCID=0", "TMPDIR=/here"}},
		{"sge", []string{}, []string{"B=1"}, []string{"B=1", "TMPDIR=/there"}},
	} {
		opts := segments(HostOptions{}, 1)
		opts.Launch.Launcher, opts.Env, opts.Segments[0].Inherit = tt.launcher, tt.genv, tt.inherit
		plan, err := NewPlan(opts, Setting{Host: "h", Environ: here})
		require.NoError(t, err)
		program := plan.Hosts[0].Programs[0]
		program.AddHostEnv(there)
		assert.ElementsMatch(t, tt.want, program.Env, "%s %v", tt.launcher, tt.inherit)
	}
}

func TestFindHosts(t *testing.T) {
	s := Setting{Host: "self", Environ: []string{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=3(x2)"}}
	require.NoError(t, s.FindHosts(HostOptions{}))
	assert.Len(t, s.Hosts, 2)
	assert.Equal(t, "slurm", s.Manager.Name)
	plan, err := NewPlan(segments(HostOptions{}, 0), s)
	require.NoError(t, err)
	assert.Equal(t, "n1=0-2 n2=3-5", layout(plan))

	require.NoError(t, s.FindHosts(HostOptions{List: "a", File: "/nowhere"}))
	assert.Equal(t, "a", s.Hosts[0].Name)
	assert.Equal(t, "slurm", s.Manager.Name, "it still starts the proxies")

	alone := Setting{Host: "self", Environ: s.Environ}
	require.NoError(t, alone.FindHosts(HostOptions{RMK: "user"}))
	assert.Empty(t, alone.Hosts)
	assert.Empty(t, alone.Manager.Name)
	assert.EqualError(t, alone.FindHosts(HostOptions{RMK: "pbs"}), "option -rmk: PBS_NODEFILE is not set: this is no job of pbs")
}
