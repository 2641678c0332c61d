// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/tpsl/tpsl/internal/topology"
)

// A NIC is a network interface or a port of an RDMA device. The names of the fields in JSON stay.
type NIC struct {
	Name      string   `json:"name"` // as UCX_NET_DEVICES takes it: eth0, mlx5_0:1
	RDMA      bool     `json:"rdma"`
	Kind      string   `json:"kind"`      // ethernet or infiniband, an RDMA port's link layer; or the kernel's word for what it is: veth, bridge, loopback...
	State     string   `json:"state"`     // up, or what it is instead: down; of an RDMA port also init, armed; unknown
	Speed     int      `json:"speed"`     // Mb/s, 0 where unknown
	Addresses []string `json:"addresses"` // IP, with prefix lengths
	PCI       string   `json:"pci"`       // address on the bus; "" has none
	Node      int      `json:"node"`      // NUMA node, -1 where unknown
	CPUs      string   `json:"cpus"`      // near it, as in 0-3,8

	// Of a port of an RDMA device.
	Device string `json:"device,omitempty"` // mlx5_0
	Port   int    `json:"port,omitempty"`   // from 1
	Verbs  string `json:"verbs,omitempty"`  // its file in /dev/infiniband: uverbs0; "" where the kernel offers none
	GIDs   []GID  `json:"gids,omitempty"`
}

// List returns the host's NICs, RDMA devices first, as far as /sys shows them. sys is the root of /sys, which m was read from.
func List(sys fs.FS, m *topology.Machine) ([]NIC, error) {
	links, err := whole(netlink.LinkList)
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	nics, err := Ports(sys, m)
	if err != nil && !errors.Is(err, ErrHidden) {
		return nil, err
	}
	for _, link := range links {
		nic, err := ofLink(link, sys)
		if err != nil {
			return nil, err
		}
		nic.locate(m, func(d topology.Device) bool { return slices.Contains(d.Net, nic.Name) })
		nics = append(nics, nic)
	}
	return nics, nil
}

func ofLink(link netlink.Link, sys fs.FS) (NIC, error) {
	attrs := link.Attrs()
	nic := NIC{Name: attrs.Name, Kind: link.Type(), State: attrs.OperState.String(), Addresses: []string{}}
	switch {
	case attrs.Flags&net.FlagLoopback != 0:
		nic.Kind = "loopback"
	case nic.Kind == "device" && attrs.EncapType == "ether":
		nic.Kind = "ethernet"
	case nic.Kind == "device":
		nic.Kind = attrs.EncapType
	}
	nic.Speed = max(0, integer(sys, "class/net/"+nic.Name+"/speed"))
	addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return nic, fmt.Errorf("list addresses of %s: %w", nic.Name, err)
	}
	for _, a := range addresses {
		nic.Addresses = append(nic.Addresses, a.IPNet.String())
	}
	return nic, nil
}

// locate notes where the NIC's PCI device sits.
func (n *NIC) locate(m *topology.Machine, is func(topology.Device) bool) {
	n.Node, n.CPUs = -1, m.CPUs.String()
	if i := slices.IndexFunc(m.Devices, is); i >= 0 {
		n.PCI, n.Node, n.CPUs = m.Devices[i].Address, m.Devices[i].Node, m.Devices[i].CPUs.String()
	}
}

func text(sys fs.FS, file string) string {
	b, err := fs.ReadFile(sys, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func integer(sys fs.FS, file string) int {
	n, _ := strconv.Atoi(text(sys, file))
	return n
}

func names(sys fs.FS, folder string) (list []string) {
	entries, _ := fs.ReadDir(sys, folder)
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}
