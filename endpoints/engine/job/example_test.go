// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job_test

import (
	"context"
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/job"
)

// Each process sends its number to the next one. Without a launcher there is one process.
func Example() {
	j, err := job.Start(context.Background(), engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	port, size := j.Fabric.Port(j.First), int32(j.Fabric.Size())
	self := int32(port.Rank())
	number := []byte{byte(self)}
	if err := port.Send(number, engine.Envelope{Peer: (self + 1) % size}); err != nil {
		fmt.Println(err)
		return
	}
	s, err := port.Recv(number, engine.Envelope{Peer: engine.AnySource})
	fmt.Printf("rank %d of %d heard of rank %d: %v\n", self, size, s.Peer, err)
	fmt.Println(j.Close())
	// Output:
	// rank 0 of 1 heard of rank 0: <nil>
	// <nil>
}
