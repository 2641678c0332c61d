// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet_test

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/packet"
)

func Example() {
	pool, err := packet.New(packet.Options{Workers: 2, Packets: 2, Size: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := pool.Get(0), pool.Get(0)
	copy(pool.Data(a), "a message")
	fmt.Println(pool.Get(1) == packet.None)
	pool.Put(0, b)
	pool.Put(0, a)
	fmt.Printf("%d bytes, %s\n", len(pool.Data(a)), pool.Data(pool.Get(0))[:9])
	fmt.Println(pool.Get(1) == b)
	// Output:
	// true
	// 1024 bytes, a message
	// true
}
