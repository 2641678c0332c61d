// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts_test

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/hosts"
)

func ExampleParseList() {
	list, err := hosts.ParseList("login,n[08-10]:4,login")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range list {
		fmt.Println(h.Name, h.Slots)
	}
	_, err = hosts.ParseList("n[08-")
	fmt.Println(err)
	// Output:
	// login 2
	// n08 4
	// n09 4
	// n10 4
	// "n[08-": [ without ]; expected NAME[:SLOTS] or ranges, as in n[01-03,7]:4
}
