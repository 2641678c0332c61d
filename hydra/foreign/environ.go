// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
)

// outdated lists variables that launchers set for each of their processes. They are wrong for a process that has several ranks.
var outdated = []string{
	"PMI_PORT", "PMI_ID", "HYDI_CONTROL_FD", "SLURM_TASK_PID", "TPSL_ALIKE", "TPSL_CPUS", "TPSL_ENV", "TPSL_CONTROL_FD", "TPSL_PYTHON", "TPSL_STDIO", "TPSL_TOOLS",
}

// perRank lists variables of which each rank keeps its own value: its number for Slurm and for the launchers of Open MPI, and the
// devices that it may use.
var perRank = []string{
	"SLURM_PROCID", "SLURM_LOCALID",
	"PMIX_ID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK", "OMPI_MCA_ess_base_vpid", "OMPI_MCA_orte_ess_node_rank",
	"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "UCX_NET_DEVICES",
}

// settingsOf returns the settings that each rank keeps for itself. Values with blanks or semicolons are left out, as
// TPSL_ENV cannot hold them.
func settingsOf(env []string) (own []string) {
	for _, name := range perRank {
		if value, found := plan.Getenv(env, name); found && !strings.ContainsAny(value, " \t\n;") {
			own = append(own, name+"="+value)
		}
	}
	return own
}

// environ is the leader's environment, for all ranks of the set.
func environ(env []string, parts []*part) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return slices.Contains(outdated, name)
	})
	var slots []string
	for _, p := range parts {
		slots = append(slots, strings.Join(p.Env, " "))
	}
	if slices.ContainsFunc(slots, func(own string) bool { return own != slots[0] }) {
		env = append(env, "TPSL_ENV="+strings.Join(slots, ";"))
	}
	return plan.ForSharedSpace(env)
}
