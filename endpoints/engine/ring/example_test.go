// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

func Example() {
	r, err := ring.New(8)
	if err != nil {
		fmt.Println(err)
		return
	}
	cell, turn := r.Claim()
	cell.Tag = 7
	cell.Length = uint32(copy(cell.Inline[:], "hello"))
	cell.Publish(turn)

	if c := r.Front(); c != nil {
		fmt.Printf("tag %d: %s\n", c.Tag, c.Inline[:c.Length])
		r.Pop()
	}
	// Output: tag 7: hello
}
