// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	slurmNodes    = "SLURM_JOB_NODELIST"
	slurmOldNodes = "SLURM_NODELIST"
)

// slurmSlots are variables with a number for each node. Inside a step some of them may be about the nodes of the step, and the
// step may have fewer nodes than the job.
var slurmSlots = []string{"SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"}

func readSlurm(getenv Getenv) ([]Host, error) {
	variable := slurmNodes
	if getenv(variable) == "" {
		variable = slurmOldNodes
	}
	list, err := parseItems(getenv(variable))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	var seen []string
	for _, name := range slurmSlots {
		text := getenv(name)
		if text == "" {
			continue
		}
		slots, err := parseCounts(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(slots) == 1 && name == "SLURM_NTASKS_PER_NODE" { // one number for all
			slots = slices.Repeat(slots, len(list))
		}
		if len(slots) == len(list) {
			for i := range list {
				list[i].Slots = slots[i]
			}
			return list, nil
		}
		seen = append(seen, name+"="+shorten(text))
	}
	if seen != nil {
		return nil, fmt.Errorf("%s names %d hosts, %s have another number", variable, len(list), strings.Join(seen, ", "))
	}
	return list, nil
}

// parseCounts reads Slurm's list with a number for each node: 4(x2),3 means 4, 4, 3.
func parseCounts(text string) ([]int, error) {
	var counts []int
	for part := range strings.SplitSeq(text, ",") {
		number, times := part, "1"
		if before, found := strings.CutSuffix(part, ")"); found {
			number, times, _ = strings.Cut(before, "(x")
		}
		n, err := strconv.Atoi(number)
		count, countErr := strconv.Atoi(times)
		if err != nil || countErr != nil || n < 1 || n > MaxSlots || count < 1 || count > MaxHosts-len(counts) {
			return nil, fmt.Errorf("%q is not a number, or NUMBER(xTIMES)", shorten(part))
		}
		counts = append(counts, slices.Repeat([]int{n}, count)...)
	}
	return counts, nil
}
