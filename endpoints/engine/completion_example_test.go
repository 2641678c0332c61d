// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// Operations end into one queue, in whatever order, and the cookies tell them apart.
func ExampleQueue() {
	f, err := engine.New(engine.Options{Ports: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	p, queue := f.Port(0), engine.NewQueue(2)
	var first, second, third [8]byte
	fmt.Println(p.Into(queue, 1).Recv(first[:], engine.Envelope{Peer: 1, Tag: 1}))
	fmt.Println(p.Into(queue, 2).Recv(second[:], engine.Envelope{Peer: 1, Tag: 2}))
	fmt.Println(p.Into(queue, 3).Recv(third[:], engine.Envelope{Peer: 1, Tag: 3}))
	fmt.Println(f.Port(1).Send([]byte("hello"), engine.Envelope{Peer: 0, Tag: 2}))
	end, err := queue.Wait(p)
	fmt.Println(end.Cookie, end.Bytes, end.Err, err)
	// Output:
	// <nil>
	// <nil>
	// the completion queue is full: take ends from it first
	// <nil>
	// 2 5 <nil> <nil>
}
