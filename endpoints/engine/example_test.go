// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"sync"

	"github.com/tpsl/tpsl/endpoints/engine"
)

func Example() {
	f, err := engine.New(engine.Options{Ports: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	var all sync.WaitGroup
	all.Go(func() {
		buf := make([]byte, 64)
		s, err := f.Port(1).Recv(buf, engine.Envelope{Peer: engine.AnySource, Tag: 7})
		fmt.Printf("%q from %d, %v\n", buf[:s.Bytes], s.Peer, err)
	})
	if err := f.Port(0).Send([]byte("hello"), engine.Envelope{Peer: 1, Tag: 7}); err != nil {
		fmt.Println(err)
	}
	all.Wait()
	// Output: "hello" from 0, <nil>
}

// A window of short messages takes less time if one call starts all of it.
func ExamplePort_IsendAll() {
	f, err := engine.New(engine.Options{Ports: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	words := [][]byte{[]byte("one"), []byte("two"), []byte("six")}
	var sent, received [3]engine.Request
	if err := f.Port(0).IsendAll(words, engine.Envelope{Peer: 1, Tag: 7}, sent[:]); err != nil {
		fmt.Println(err)
	}
	bufs := [][]byte{make([]byte, 3), make([]byte, 3), make([]byte, 3)}
	if err := f.Port(1).IrecvAll(bufs, engine.Envelope{Peer: 0, Tag: 7}, received[:]); err != nil {
		fmt.Println(err)
	}
	fmt.Println(engine.WaitAll(received[:], nil), engine.WaitAll(sent[:], nil))
	fmt.Printf("%s\n", bufs)
	// Output:
	// <nil> <nil>
	// [one two six]
}
