// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"
	"strings"
)

// hostVariables are what each launcher sets, or lets differ, on every host. mpiexec's own values would be wrong there, so
// ranks get those that their proxy finds.
var hostVariables = map[string][]string{
	"":      {"DISPLAY"}, // ssh, unless the host is this one
	"ssh":   {"DISPLAY"},
	"rsh":   {"DISPLAY"},
	"slurm": {"SLURM_*", "SLURMD_*", "SBATCH_*", "MAX_TASKS_PER_NODE"},
	"lsf":   {"DISPLAY", "LSB_*", "LSF_*", "EGO_*", "LS_EXEC_T", "HOSTTYPE", "SPOOLDIR", "TMPDIR"},
	"sge": {"DISPLAY", "SGE_*", "ARC", "ENVIRONMENT", "HOSTNAME", "JOB_ID", "JOB_NAME", "JOB_SCRIPT", "NHOSTS", "NQUEUES", "NSLOTS",
		"PE", "PE_HOSTFILE", "QUEUE", "REQUEST", "RESTARTED", "TMP", "TMPDIR"},
	"pbs": {"PBS_*", "PBSCOREDUMP", "PBSDEBUG", "PBSLOGLEVEL"},
	"ll":  {"LOADL_*", "LOADLBATCH"},
}

// hostEnv returns the patterns of variables that the segment's ranks take from their host.
func (s Segment) hostEnv(launcher string) []string {
	patterns := hostVariables[launcher]
	if s.Inherit == nil {
		return patterns
	}
	var names []string
	for _, name := range slices.Concat(s.Inherit, loginVariables) {
		if matches(patterns, name) {
			names = append(names, name)
		}
	}
	return names
}

// AddHostEnv adds the variables that are the host's own, out of environ. What the user has set wins.
func (p *Program) AddHostEnv(environ []string) {
	own := slices.DeleteFunc(slices.Clone(environ), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return !matches(p.HostEnv, name)
	})
	p.Env = SetEnv(own, p.Env...)
}
