// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"

	"github.com/tpsl/tpsl/loader"
)

// Two private copies of a library that keeps state in global variables.
func ExampleOpen() {
	for range 2 {
		hwloc, err := loader.Open("libhwloc.so.15")
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := hwloc.Call("hwloc_get_api_version")
		fmt.Println(v > 0x20000, err)
		hwloc.Close()
	}
	// Output:
	// true <nil>
	// true <nil>
}
