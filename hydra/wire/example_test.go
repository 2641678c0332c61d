// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/wire"
)

func Example() {
	type order struct {
		Program string
		Ranks   []int
	}
	b := wire.Encode(order{"true", []int{4, 5}})
	fmt.Println(len(b), "bytes")
	var got order
	fmt.Println(wire.Decode(b, &got), got)
	// Output:
	// 8 bytes
	// <nil> {true [4 5]}
}
