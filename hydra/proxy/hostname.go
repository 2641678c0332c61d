// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"

	"github.com/tpsl/tpsl/hydra"
)

// hostName returns the name or address under which ranks on other hosts find this one: as the user wrote it, unless an
// interface was asked for.
func hostName(plan hydra.HostPlan) (string, error) {
	switch {
	case plan.Iface != "":
		return interfaceAddress(plan)
	case plan.TellName:
		return plan.Host, nil
	}
	return "", nil
}

// interfaceAddress returns the interface's first address, IPv4 before IPv6.
func interfaceAddress(plan hydra.HostPlan) (string, error) {
	device, err := net.InterfaceByName(plan.Iface)
	if err != nil {
		return "", fmt.Errorf("option -iface: find %s on %s: %w", plan.Iface, plan.Host, err)
	}
	addrs, err := device.Addrs()
	if err != nil {
		return "", fmt.Errorf("option -iface: read addresses of %s on %s: %w", plan.Iface, plan.Host, err)
	}
	found := ""
	for _, addr := range addrs {
		network, isIP := addr.(*net.IPNet)
		switch {
		case !isIP || network.IP.IsLinkLocalUnicast():
		case network.IP.To4() != nil:
			return network.IP.String(), nil
		case found == "":
			found = network.IP.String()
		}
	}
	if found == "" {
		return "", fmt.Errorf("option -iface: %s on %s has no address", plan.Iface, plan.Host)
	}
	return found, nil
}
