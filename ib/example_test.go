// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib_test

import (
	"fmt"
	"os"

	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// Which NIC each of two ranks would drive.
func Example() {
	sys := os.DirFS("/sys")
	machine := topology.Read(sys, nil)
	nics, err := ib.List(sys, machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	rails := ib.Rails(nics, []topology.Set{machine.CPUs, machine.CPUs})
	fmt.Println(len(rails) == 0 || len(rails) == 2)
	// Output: true
}
