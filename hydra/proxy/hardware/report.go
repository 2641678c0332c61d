// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/internal/topology"
)

// report returns a line for each rank that says where it runs and which devices it has.
func (s Shares) report() []string {
	var lines []string
	for _, set := range s.Sets {
		cpus, settings := s.CPUsOf(set), s.RankSettings(set)
		for i, rank := range set.Ranks {
			line := fmt.Sprintf("rank %d on %s", rank, s.host.Name)
			if len(set.Ranks) > 1 {
				line += fmt.Sprintf(" (%s in one process)", set.Name())
			}
			if cpus != nil {
				line += ": " + describe(s.machine, cpus[i])
			} else {
				line += ": not bound, " + describe(s.machine, s.machine.CPUs)
			}
			lines = append(lines, strings.Join(append([]string{line}, settings[i]...), "; "))
		}
	}
	return lines
}

// describe says which hardware the CPUs belong to: "CPUs 0-1,64-65: cores 0-1 of socket 0; NUMA node 0".
func describe(m *topology.Machine, cpus topology.Set) string {
	var places, nodes []string
	for _, socket := range m.Objects(topology.Socket) {
		part := socket.CPUs.And(cpus)
		if len(part) == 0 {
			continue
		}
		name := fmt.Sprintf("socket %d", socket.ID)
		if len(part) < len(socket.CPUs) {
			name = counted("core", around(m.Objects(topology.Core), part)) + " of " + name
		}
		places = append(places, name)
	}
	if where := around(m.Objects(topology.NUMA), cpus); len(where) > 0 {
		nodes = append(nodes, counted("NUMA node", where))
	}
	for _, t := range m.Types {
		if len(t.CPUs.And(cpus)) > 0 {
			nodes = append(nodes, t.Name)
		}
	}
	return counted("CPU", cpus) + ": " + strings.Join(places, " and ") + "; " + strings.Join(nodes, ", ")
}

// around returns the numbers of the objects that contain some of the CPUs.
func around(objects []topology.Object, cpus topology.Set) topology.Set {
	var ids topology.Set
	for _, o := range objects {
		if len(o.CPUs.And(cpus)) > 0 {
			ids = ids.Or(topology.Set{o.ID})
		}
	}
	return ids
}

// counted writes "core 3" or "cores 0-3".
func counted(word string, ids topology.Set) string {
	if len(ids) != 1 {
		word += "s"
	}
	return word + " " + ids.String()
}
