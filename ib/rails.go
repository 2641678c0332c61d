// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"net/netip"
	"slices"

	"github.com/tpsl/tpsl/internal/topology"
)

// Rails gives each rank the name of a NIC that is near its CPUs, every NIC to as many ranks as the others that are as near.
// It returns nil where there is no choice.
func Rails(nics []NIC, ranks []topology.Set) []string {
	nics = fastest(nics)
	if len(nics) < 2 {
		return nil
	}
	used := make([]int, len(nics))
	rails := make([]string, len(ranks))
	for i, cpus := range ranks {
		best := 0
		for k := range nics {
			// Nearness first, then the one with the fewest ranks, then the first one.
			if d := nics[k].near(cpus) - nics[best].near(cpus); d > 0 || d == 0 && used[k] < used[best] {
				best = k
			}
		}
		used[best]++
		rails[i] = nics[best].Name
	}
	return rails
}

// near counts the CPUs that are near the NIC.
func (n NIC) near(cpus topology.Set) int {
	near, _ := topology.ParseSet(n.CPUs) // none where it is not written as a set
	return len(cpus.And(near))
}

// fastest returns the NICs that are worth being a rail: those of the highest speed, RDMA devices if there are any.
func fastest(nics []NIC) []NIC {
	nics = slices.DeleteFunc(slices.Clone(nics), func(n NIC) bool { return n.State != "up" || !n.RDMA && !n.routed() })
	if slices.ContainsFunc(nics, func(n NIC) bool { return n.RDMA }) {
		nics = slices.DeleteFunc(nics, func(n NIC) bool { return !n.RDMA })
	}
	speed := 0
	for _, n := range nics {
		speed = max(speed, n.Speed)
	}
	return slices.DeleteFunc(nics, func(n NIC) bool { return n.Speed < speed })
}

// wires are the kinds of interfaces that lead to other hosts.
var wires = []string{"ethernet", "infiniband", "ipoib", "bond", "team", "vlan", "macvlan", "ipvlan", "veth"}

// routed reports whether other hosts may reach the interface.
func (n NIC) routed() bool {
	return slices.Contains(wires, n.Kind) && slices.ContainsFunc(n.Addresses, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Addr().IsGlobalUnicast()
	})
}
