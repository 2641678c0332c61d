// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache_test

import (
	"fmt"

	"github.com/tpsl/tpsl/ib/regcache"
)

// printer stands for a NIC.
type printer struct{}

func (printer) Register(r regcache.Range, _ regcache.Access) (regcache.Memory, error) {
	fmt.Println("register", r)
	return regcache.Memory{Local: 7}, nil
}

func (printer) Deregister(m regcache.Memory) { fmt.Println("deregister", m.Local) }

func Example() {
	cache, err := regcache.New(printer{}, regcache.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 { // three sends of one buffer
		region, err := cache.Acquire(regcache.Range{Start: 0x10000, End: 0x20000}, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("send with key", region.Memory.Local)
		region.Release()
	}
	cache.Invalidate(regcache.Range{Start: 0x10000, End: 0x20000}) // munmap
	fmt.Println(cache.Close())
	// Output:
	// register 0x10000-0x20000
	// send with key 7
	// send with key 7
	// send with key 7
	// deregister 7
	// <nil>
}
