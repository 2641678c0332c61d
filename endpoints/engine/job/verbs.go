// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package job

import (
	"net"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/endpoints/engine/verbs"
)

// canVerbs tells whether this program can send by RDMA.
func canVerbs() error { return nil }

// joinVerbs joins by a port of an RDMA device.
func joinVerbs(listener *net.TCPListener, port string, o tcp.Options) (carrier.Carrier, error) {
	d, err := open(port)
	if err != nil {
		listener.Close()
		return nil, err
	}
	v := verbs.Options{Process: o.Process, Secret: o.Secret, Near: o.Near, Bells: o.Bells}
	for _, p := range o.Peers {
		v.Peers = append(v.Peers, verbs.Peer{First: p.First, Ports: p.Ports, Address: p.Address})
	}
	n, err := verbs.Join(listener, d, v)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func open(port string) (*verbs.Device, error) {
	nic, err := verbs.Choose(port)
	if err != nil {
		return nil, err
	}
	return verbs.Open(nic)
}
