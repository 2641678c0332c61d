// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package job

import (
	"errors"
	"net"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/endpoints/engine/verbs"
)

// canVerbs tells whether this program can send by RDMA.
func canVerbs() error { return nil }

// joinVerbs joins by ports of RDMA devices.
func joinVerbs(listener *net.TCPListener, rails []rail, cards []card, o tcp.Options) (carrier.Carrier, error) {
	var open []verbs.Rail
	for _, r := range rails {
		d, err := openPort(r.port)
		if err != nil {
			for _, r := range open {
				err = errors.Join(err, r.Device.Close())
			}
			listener.Close()
			return nil, err
		}
		open = append(open, verbs.Rail{Device: d, Node: r.node})
	}
	v := verbs.Options{Process: o.Process, Secret: o.Secret, Near: o.Near, Bells: o.Bells, Lasting: o.Lasting}
	for i, p := range o.Peers {
		v.Peers = append(v.Peers, verbs.Peer{First: p.First, Ports: p.Ports, Rails: cards[i].rails, Address: p.Address})
	}
	n, err := verbs.Join(listener, open, v)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func openPort(port string) (*verbs.Device, error) {
	nic, err := verbs.Choose(port)
	if err != nil {
		return nil, err
	}
	return verbs.Open(nic)
}
