// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology"
)

// ErrHidden says that the kernel tells of RDMA devices that /sys does not show, as in a container without it.
var ErrHidden = errors.New("/sys shows none of the RDMA devices")

// Ports returns the ports of the RDMA devices of the caller's network namespace, or [ErrHidden].
func Ports(sys fs.FS, m *topology.Machine) ([]NIC, error) { return listPorts(sys, m, allGIDs) }

// PortsBriefly is Ports for a program that is about to send: of its GIDs each port has the first one at most. To read all takes
// seconds where the kernel is slow, as a table may have 1,024.
func PortsBriefly(sys fs.FS) ([]NIC, error) { return listPorts(sys, new(topology.Machine), 1) }

func listPorts(sys fs.FS, m *topology.Machine, gids int) ([]NIC, error) {
	links, err := whole(netlink.RdmaLinkList)
	if err != nil && !missing(err) {
		return nil, fmt.Errorf("list RDMA devices: %w", err)
	}
	var devices []string
	for _, link := range links {
		devices = append(devices, link.Attrs.Name)
	}
	if err != nil {
		devices = names(sys, class)
	}
	return shown(devices, ports(sys, m, devices, gids))
}

func shown(devices []string, ports []NIC) ([]NIC, error) {
	if len(devices) > 0 && len(ports) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrHidden, strings.Join(devices, ", "))
	}
	return ports, nil
}

// missing reports whether the error means that the kernel has no netlink family of RDMA devices: there are none, or the
// kernel is older than 4.12, or is an emulated one.
func missing(err error) bool {
	return slices.ContainsFunc([]error{unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT, unix.EOPNOTSUPP, unix.EINVAL},
		func(e error) bool { return errors.Is(err, e) })
}

const class = "class/infiniband"

// ports returns the ports of devices, as sys describes them, with so many GIDs at most. What it does not tell is unknown.
func ports(sys fs.FS, m *topology.Machine, devices []string, gids int) []NIC {
	var nics []NIC
	verbs := verbsFiles(sys)
	for _, device := range slices.Sorted(slices.Values(devices)) {
		for _, name := range names(sys, class+"/"+device+"/ports") {
			number, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			folder := class + "/" + device + "/ports/" + name + "/"
			nic := NIC{
				Name: device + ":" + name, RDMA: true, Addresses: []string{},
				Device: device, Port: number, Verbs: verbs[device],
				Kind:  strings.ToLower(text(sys, folder+"link_layer")),
				State: parseState(text(sys, folder+"state")),
				Speed: parseRate(text(sys, folder+"rate")),
				GIDs:  readGIDs(sys, folder, gids),
			}
			if nic.Kind == "" {
				nic.Kind = "unknown"
			}
			nic.locate(m, func(d topology.Device) bool { return slices.Contains(d.RDMA, device) })
			nics = append(nics, nic)
		}
	}
	return nics
}

// verbsFiles returns the names of the files in /dev/infiniband that programs open devices by.
func verbsFiles(sys fs.FS) map[string]string {
	const class = "class/infiniband_verbs"
	files := map[string]string{}
	for _, name := range names(sys, class) {
		if device := text(sys, class+"/"+name+"/ibdev"); device != "" {
			files[device] = name
		}
	}
	return files
}

// parseState reads a port's state: "4: ACTIVE".
func parseState(text string) string {
	switch _, word, _ := strings.Cut(text, ": "); word {
	case "ACTIVE", "ACTIVE_DEFER":
		return "up"
	case "DOWN", "INIT", "ARMED":
		return strings.ToLower(word)
	}
	return "unknown"
}

// parseRate reads a port's speed and returns it in Mb/s, 0 for what is none: "200 Gb/sec (4X HDR)", "2.5 Gb/sec (1X SDR)".
func parseRate(text string) int {
	gigabits, _, _ := strings.Cut(text, " Gb/sec")
	rate, err := strconv.ParseFloat(gigabits, 64)
	if err != nil || !(rate > 0 && rate < math.MaxInt32/1000) {
		return 0
	}
	return int(math.Round(rate * 1000))
}
