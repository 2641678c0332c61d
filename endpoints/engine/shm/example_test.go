// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
)

// A launcher makes a pair of sockets for each process, calls Meet with its ends, and has
// each process inherit the other. Here one process is all three.
func Example() {
	var forMeet, forJoin []*os.File
	for range 2 {
		m, j, err := shm.Socketpair()
		if err != nil {
			fmt.Println(err)
			return
		}
		defer m.Close()
		defer j.Close()
		forMeet, forJoin = append(forMeet, m), append(forJoin, j)
	}
	rank := func(rank int, f func(p *engine.Port) error) error {
		node, err := shm.Join(context.Background(), forJoin[rank], shm.Options{First: rank, Ports: 1, Total: 2})
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
	go func() { ends <- shm.Meet(context.Background(), forMeet) }()
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
	for range 3 {
		if err := <-ends; err != nil {
			fmt.Println(err)
		}
	}
	// Output: rank 0: hello
}
