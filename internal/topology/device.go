// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"slices"
	"strings"
)

// PCI vendors and classes (pci-ids).
const (
	VendorNVIDIA = 0x10de
	VendorAMD    = 0x1002
	VendorIntel  = 0x8086

	classDisplay     = 0x03
	classAccelerator = 0x12
)

// GPU reports whether the device computes: the display of a server's management controller does not.
func (d Device) GPU() bool {
	class := d.Class >> 16
	return (class == classDisplay || class == classAccelerator) &&
		(d.Vendor == VendorNVIDIA || d.Vendor == VendorAMD || d.Vendor == VendorIntel)
}

// readDevices enters the PCI devices.
func (t tree) readDevices(m *Machine) {
	const bus = "bus/pci/devices/"
	for _, address := range t.list(bus[:len(bus)-1]) {
		folder := bus + address
		near := t.set(folder + "/local_cpulist")
		if near == nil {
			near = m.CPUs
		}
		d := Device{
			Address: address,
			Class:   uint32(t.number(folder+"/class", 0)),
			Vendor:  uint16(t.number(folder+"/vendor", 0)),
			Node:    t.number(folder+"/numa_node", -1),
			CPUs:    near.And(m.CPUs),
			Net:     t.list(folder + "/net"),
			RDMA:    t.list(folder + "/infiniband"),
		}
		for _, name := range t.list(folder) {
			if strings.HasPrefix(name, "virtio") {
				d.Net = append(d.Net, t.list(folder+"/"+name+"/net")...)
			}
		}
		m.Devices = append(m.Devices, d)
	}
}

// PCI returns the device at an address as lspci prints it: 41:00.0, or 0000:41:00.0 with its domain.
func (m *Machine) PCI(address string) (Device, bool) {
	address = strings.ToLower(address)
	if strings.Count(address, ":") == 1 {
		address = "0000:" + address
	}
	i := slices.IndexFunc(m.Devices, func(d Device) bool { return d.Address == address })
	if i < 0 {
		return Device{}, false
	}
	return m.Devices[i], true
}

// GPUs returns the GPUs in the order of their addresses, as their own libraries number them.
func (m *Machine) GPUs() []Device {
	return slices.DeleteFunc(slices.Clone(m.Devices), func(d Device) bool { return !d.GPU() })
}
