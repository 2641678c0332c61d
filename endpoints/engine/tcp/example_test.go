// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp_test

import (
	"context"
	"fmt"
	"net"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// All processes listen, then tell each other where, then join. Here one process is both.
func Example() {
	var listeners []*net.TCPListener
	var peers []tcp.Peer
	for rank := range 2 {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			fmt.Println(err)
			return
		}
		listeners = append(listeners, l)
		peers = append(peers, tcp.Peer{First: rank, Ports: 1, Address: l.Addr().String()})
	}
	rank := func(rank int, f func(p *engine.Port) error) error {
		node, err := tcp.Join(context.Background(), listeners[rank], tcp.Options{Peers: peers, Process: rank, Secret: tcp.Secret{42}})
		if err != nil {
			return err
		}
		defer node.Close()
		fabric, err := engine.New(engine.Options{Carrier: node})
		if err != nil {
			return err
		}
		return f(fabric.Port(rank))
	}
	ends := make(chan error)
	go func() {
		ends <- rank(0, func(p *engine.Port) error { return p.Send([]byte("hello"), engine.Envelope{Peer: 1}) })
	}()
	go func() {
		ends <- rank(1, func(p *engine.Port) error {
			buf := make([]byte, 10)
			s, err := p.Recv(buf, engine.Envelope{Peer: 0})
			fmt.Printf("rank %d: %s\n", s.Peer, buf[:s.Bytes])
			return err
		})
	}()
	for range 2 {
		if err := <-ends; err != nil {
			fmt.Println(err)
		}
	}
	// Output: rank 0: hello
}
