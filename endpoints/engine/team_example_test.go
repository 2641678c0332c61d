// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// Three ports add up their numbers, and gather their names.
func ExampleTeam() {
	f, err := engine.New(engine.Options{Ports: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	sum := func(into, from []byte) {
		binary.LittleEndian.PutUint64(into, binary.LittleEndian.Uint64(into)+binary.LittleEndian.Uint64(from))
	}
	var all sync.WaitGroup
	for rank := range 3 {
		all.Go(func() {
			team, err := f.Port(rank).Team(9)
			if err != nil {
				fmt.Println(err)
				return
			}
			number := binary.LittleEndian.AppendUint64(nil, uint64(10+rank))
			summed := team.Allreduce(ctx, number, sum)
			names := []byte("...")
			names[rank] = "abc"[rank]
			gathered := team.Allgather(ctx, names)
			met := team.Barrier(ctx)
			if rank == 2 {
				fmt.Println(binary.LittleEndian.Uint64(number), string(names), summed, gathered, met)
			}
		})
	}
	all.Wait()
	// Output: 33 abc <nil> <nil> <nil>
}
