// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/ib/verbs"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// A Device is an open RDMA device, with the port that a node sends by.
type Device struct {
	name   string // of the port: mlx5_0:1
	device *verbs.Device
	port   *queue.Port
}

// Open opens the device of a port that Choose has returned. The error says what to do.
func Open(nic ib.NIC) (*Device, error) {
	d, err := verbs.Open(nic.Device)
	if err != nil {
		return nil, err
	}
	p, err := openPort(d, nic)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("RDMA port %s: %w", nic.Name, err), d.Close())
	}
	return &Device{nic.Name, d, p}, nil
}

// openPort returns the port, with the GID that suits it best.
func openPort(d *verbs.Device, nic ib.NIC) (*queue.Port, error) {
	all, err := queue.GIDs(d.Domain())
	if err != nil {
		return nil, err
	}
	nic.GIDs = nil // Choose has left out most
	for _, g := range all {
		if g.Port == nic.Port {
			gid := ib.GID{Index: g.Index, Address: netip.AddrFrom16(g.Address)}
			if g.Routed {
				gid.Type = ib.Routed
			}
			nic.GIDs = append(nic.GIDs, gid)
		}
	}
	gid, found := nic.GID()
	if !found {
		return nil, errors.New("it has no GID: give its network interface an address")
	}
	return queue.NewPort(d.Domain(), nic.Port, gid.Index)
}

// Choose returns the port of that name, as tpsl nic prints it, or the first port if the name is "", if it can be used. Else
// the error says what to do.
func Choose(port string) (ib.NIC, error) {
	want := ib.Want{RDMA: true, Tuned: true}
	if port != "" {
		want.Ports = []string{port}
	}
	ports, err := ib.PortsBriefly(os.DirFS("/sys"))
	if err != nil {
		return ib.NIC{}, err
	}
	h := ib.Host{Ports: ports, Open: ib.OpenVerbs}
	if t := want.Trouble(h); t != nil {
		return ib.NIC{}, fmt.Errorf("%s: %s", t.What, t.Remedy)
	}
	name := want.Settled(h).Ports[0]
	return ports[slices.IndexFunc(ports, func(n ib.NIC) bool { return n.Name == name })], nil
}

// trouble returns what is wrong with the port now, "" if nothing is known.
func (d *Device) trouble() string {
	if _, err := Choose(d.name); err != nil {
		return err.Error()
	}
	return ""
}

// Close closes the device, unless Join has taken it: then the node does.
func (d *Device) Close() error { return d.device.Close() }
