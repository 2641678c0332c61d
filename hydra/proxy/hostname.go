// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"

	"github.com/tpsl/tpsl/hydra/plan"
)

// hostName returns the name or address under which ranks on other hosts find this one: as the user wrote it, unless an
// interface was asked for.
func hostName(host plan.Host) (string, error) {
	switch {
	case host.Iface != "":
		return interfaceAddress(host)
	case host.TellName:
		return host.Name, nil
	}
	return "", nil
}

// interfaceAddress returns the interface's first address, IPv4 before IPv6.
func interfaceAddress(host plan.Host) (string, error) {
	device, err := net.InterfaceByName(host.Iface)
	if err != nil {
		return "", fmt.Errorf("option -iface: find %s on %s: %w", host.Iface, host.Name, err)
	}
	addrs, err := device.Addrs()
	if err != nil {
		return "", fmt.Errorf("option -iface: read addresses of %s on %s: %w", host.Iface, host.Name, err)
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
		return "", fmt.Errorf("option -iface: %s on %s has no address", host.Iface, host.Name)
	}
	return found, nil
}
