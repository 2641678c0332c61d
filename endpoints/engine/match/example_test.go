// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/match"
)

func Example() {
	nodes := &match.Nodes{}
	table := match.NewTable(nodes, 100)
	node := func(number uint64, peer, tag int32) uint32 {
		i := nodes.Add()
		n := nodes.At(i)
		n.Envelope, n.Number = match.Envelope{Peer: peer, Tag: tag}, number
		return i
	}
	any7 := node(0, match.AnySource, 7)
	from3 := node(0, 3, 7)
	fmt.Println(table.Post(any7) == match.None, table.Post(from3) == match.None)

	first, second, third := node(1, 3, 7), node(2, 3, 7), node(3, 5, 8)
	fmt.Println(table.Arrive(first) == any7, table.Arrive(second) == from3, table.Arrive(third) == match.None)
	fmt.Println(table.Post(node(0, 5, match.AnyTag)) == third)
	// Output:
	// true true
	// true true true
	// true
}
