// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"
	"strconv"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/ranges"
)

// settings returns the variables that tell a set's process who it is and what it has (docs/environment.md).
func (p *proxy) settings(set plan.RankSet, exe executable.Executable, layout descriptors.Layout, shares hardware.Shares) []string {
	program := p.programs[set.Program]
	var local []int
	for i := range set.Ranks {
		local = append(local, set.Local+i)
	}
	own := []string{
		"GFORTRAN_UNBUFFERED_PRECONNECTED=y",
		"MPI_LOCALNRANKS=" + strconv.Itoa(p.host.Ranks),
		"MPI_LOCALRANKID=" + ranges.List(local),
	}
	if p.hostName != "" {
		own = append(own, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME="+p.hostName, "PMI_HOSTNAME="+p.hostName)
	}
	own = append(own, layout.Settings()...)
	if p.host.Profile {
		own = append(own, "TPSL_COUNTS=1")
	}
	own = append(own, p.session(set)...)
	if p.host.Group > 0 {
		own = append(own, "PMI_SPAWNED=1")
	}
	if shares.Bound {
		own = append(own, "HYDRA_USER_PROVIDED_BINDING=1")
	}
	if _, found := plan.Getenv(program.Env, "OMP_NUM_THREADS"); !found && program.PerProcess > 1 && !exe.IsPrivate() {
		own = append(own, "OMP_NUM_THREADS="+strconv.Itoa(len(set.Ranks)))
	}
	own = append(own, shares.ProcessSettings(set)...)
	return append(own, exe.Settings()...)
}

// session returns the variables by which a set's ranks say to the PMI server who they are.
func (p *proxy) session(set plan.RankSet) []string {
	if p.port != nil {
		return []string{"PMI_PORT=" + p.port.listener.Addr().String(), "PMI_ID=" + ranges.List(set.Ranks)}
	}
	return []string{"PMI_RANK=" + ranges.List(set.Ranks), "PMI_SIZE=" + strconv.Itoa(p.host.World.Size)}
}

// hostName returns the name or address under which ranks on other hosts find this one. It is the name that the user wrote, unless
// the user asked for an interface.
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
