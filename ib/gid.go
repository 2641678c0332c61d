// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"io/fs"
	"math"
	"net/netip"
	"slices"
	"strconv"
)

// A GID is an address that a port of an RDMA device goes by.
type GID struct {
	Index     int        `json:"index"` // in the port's table, as UCX_IB_GID_INDEX takes it
	Address   netip.Addr `json:"gid"`
	Type      string     `json:"type"`                // "RoCE v2", "IB/RoCE v1"; "" where the kernel does not tell
	Interface string     `json:"interface,omitempty"` // the network interface below it, with RoCE
}

// Routed is the kernel's word for the type of GIDs whose packets are routed.
const Routed = "RoCE v2"

// readGIDs reads a port's table. The kernel shows an entry that is not used as zeros, and has no type for it. Kernels
// before 4.5 have no types at all. No more than so many entries are looked at.
func readGIDs(sys fs.FS, port string, most int) []GID {
	var table []GID
	entries := names(sys, port+"gids") // the first one is 0
	for _, name := range entries[:min(most, len(entries))] {
		index, err := strconv.Atoi(name)
		address, used := parseGID(text(sys, port+"gids/"+name))
		if err == nil && used {
			table = append(table, GID{index, address, text(sys, port+"gid_attrs/types/"+name), text(sys, port+"gid_attrs/ndevs/"+name)})
		}
	}
	slices.SortFunc(table, func(a, b GID) int { return a.Index - b.Index })
	return table
}

const allGIDs = math.MaxInt

// parseGID reads "fe80:0000:0000:0000:5054:00ff:fe12:3456".
func parseGID(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	return address, err == nil && address.Is6() && address.Zone() == "" && !address.IsUnspecified()
}

// GID returns the GID that UCX takes unless UCX_IB_GID_INDEX names another: on InfiniBand the first one; with RoCE one that
// is routed before one that is not, and one of an IPv4 address before others (uct_ib_device_select_gid).
func (n NIC) GID() (GID, bool) {
	if len(n.GIDs) == 0 {
		return GID{}, false
	}
	rank := func(g GID) int {
		switch {
		case n.Kind != "ethernet":
			return 0
		case g.Type == Routed && g.Address.Is4In6():
			return 0
		case g.Type == Routed:
			return 1
		case g.Address.Is4In6():
			return 2
		}
		return 3
	}
	return slices.MinFunc(n.GIDs, func(a, b GID) int { return rank(a) - rank(b) }), true
}
