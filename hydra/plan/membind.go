// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/topology"
)

// A MemBinding says from which NUMA nodes the memory of ranks comes. The zero value leaves this to the kernel.
type MemBinding struct {
	Policy string       // "", none, firsttouch, bind or interleave
	Nodes  topology.Set // NUMA nodes; nil means the nearest nodes for bind, and all nodes for interleave
}

// Active reports whether ranks get a policy.
func (b MemBinding) Active() bool { return b.Policy != "" && b.Policy != "none" }

// ParseMemBinding reads POLICY or POLICY:NODES.
func ParseMemBinding(text string) (MemBinding, error) {
	policy, list, listed := strings.Cut(strings.ToLower(text), ":")
	b := MemBinding{Policy: policy}
	switch {
	case policy == "nexttouch":
		return MemBinding{}, errors.New("the kernel does not move memory to who touches it next; use firsttouch")
	case (policy == "none" || policy == "firsttouch") && !listed:
		return b, nil
	case (policy == "bind" || policy == "interleave") && !listed:
		return b, nil
	case policy == "bind" || policy == "interleave":
		var err error
		if b.Nodes, err = topology.ParseSet(list); err != nil || len(b.Nodes) == 0 {
			return MemBinding{}, fmt.Errorf("%q is no list of NUMA nodes", list)
		}
		return b, nil
	}
	return MemBinding{}, fmt.Errorf("%q is not one of none, firsttouch, bind, bind:NODES, interleave, interleave:NODES", text)
}

// NodesOf returns the nodes from which the memory of a process on these CPUs comes. If it returns nil, the kernel decides.
func (b MemBinding) NodesOf(cpus topology.Set, m *topology.Machine) (topology.Set, error) {
	var all, near topology.Set
	for _, node := range m.Nodes {
		all = append(all, node.ID)
		if len(node.CPUs.And(cpus)) > 0 {
			near = append(near, node.ID)
		}
	}
	switch {
	case b.Policy == "firsttouch":
		return nil, nil
	case len(b.Nodes.And(all)) < len(b.Nodes):
		return nil, fmt.Errorf("NUMA nodes %v are not all among %v", b.Nodes, all)
	case b.Nodes != nil:
		return b.Nodes, nil
	case b.Policy == "bind":
		all = near
	}
	if all = slices.Clip(all); len(all) == 0 {
		return nil, errors.New("/sys tells no NUMA nodes; name them")
	}
	return all, nil
}
