// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// Port 0 asks port 1 by an active message. The handler there answers by another.
func ExamplePort_Invoke() {
	const greet, answer = 0, 1
	var answered atomic.Bool
	f, err := engine.New(engine.Options{Ports: 2, Model: engine.Offload, Handlers: []engine.Handler{
		greet: func(p *engine.Port, e engine.Envelope, data []byte) {
			fmt.Printf("port %d hears %q from port %d\n", p.Rank(), data, e.Peer)
			if _, err := p.Invoke([]byte("well"), engine.Envelope{Peer: e.Peer, Tag: answer}); err != nil {
				fmt.Println(err)
			}
		},
		answer: func(p *engine.Port, _ engine.Envelope, data []byte) {
			fmt.Printf("port %d hears %q\n", p.Rank(), data)
			answered.Store(true)
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	if _, err := f.Port(0).Invoke([]byte("how are you?"), engine.Envelope{Peer: 1, Tag: greet}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(f.Port(0).Await(answered.Load))
	// Output:
	// port 1 hears "how are you?" from port 0
	// port 0 hears "well"
	// <nil>
}
