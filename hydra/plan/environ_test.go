// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Processes are told that all others are like them only in jobs of one program with several ranks in a process.
func TestAlike(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		want   []string
	}{
		"one rank in a process": {func(*Request) {}, nil},
		"several":               {func(r *Request) { r.Segments[0].PerProcess = 2 }, []string{"MPIR_CVAR_SHM_SYMHEAP_RETRY=0", "TPSL_ALIKE=1"}},
		"as many as fit":        {func(r *Request) { r.Segments[0].PerObject = "socket" }, []string{"MPIR_CVAR_SHM_SYMHEAP_RETRY=0", "TPSL_ALIKE=1"}},
		"two programs": {func(r *Request) {
			r.Segments[0].PerProcess = 2
			r.Segments = append(r.Segments, r.Segments[0])
		}, []string{"MPIR_CVAR_SHM_SYMHEAP_RETRY=0"}},
	} {
		r := segments(HostOptions{}, 4)
		c.change(&r)
		plan, err := New(r, Site{Host: "h", Environ: []string{"TPSL_ALIKE=1"}}) // of the job that mpiexec belongs to
		require.NoError(t, err)
		assert.ElementsMatch(t, c.want, plan.Hosts[0].Programs[0].Env, name)
	}
}

// Variables that differ from host to host have the values of the host, unless the user has set them or excludes them.
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
		plan, err := New(opts, Site{Host: "h", Environ: here})
		require.NoError(t, err)
		host := plan.Hosts[0]
		assert.ElementsMatch(t, tt.want, host.ProgramsAs(host.AsPlanned(), there)[0].Env, "%s %v", tt.launcher, tt.inherit)
	}
}
