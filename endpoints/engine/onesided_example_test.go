// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// Port 1 registers memory and sends its key to port 0, which puts data there, and adds to a word.
func ExamplePort_Put() {
	f, err := engine.New(engine.Options{Ports: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	memory := make([]byte, 64)
	region, err := f.Port(1).Register(memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	key := region.Key()
	err = f.Port(1).Send(key[:], engine.Envelope{Peer: 0})

	var theirs engine.Key
	_, received := f.Port(0).Recv(theirs[:], engine.Envelope{Peer: 1})
	put, refused := f.Port(0).Put(theirs, 8, []byte("hello"))
	_, ended := put.Wait()
	fmt.Println(errors.Join(err, received, refused, ended))

	var before uint64
	add, refused := f.Port(0).FetchAdd(theirs, 0, 5, &before)
	_, ended = add.Wait()
	fmt.Println(errors.Join(refused, ended), before)
	fmt.Println(region.Free())
	fmt.Printf("%q\n", memory[:13])
	// Output:
	// <nil>
	// <nil> 0
	// <nil>
	// "\x05\x00\x00\x00\x00\x00\x00\x00hello"
}
