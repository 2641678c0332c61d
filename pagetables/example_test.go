// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables_test

import (
	"fmt"
	"os"

	"github.com/tpsl/tpsl/pagetables"
)

func Example() {
	p, err := pagetables.Proc("/proc").Read(os.Getpid())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range p.Rows {
		if row.Object == "[stack]" {
			fmt.Println(row.Owner, row.Object, row.Segment, row.Anonymous > 0)
		}
	}
	// Output: process [stack] rw-p true
}
