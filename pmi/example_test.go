// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi_test

import (
	"fmt"

	"github.com/tpsl/tpsl/pmi"
)

func ExampleParse() {
	msg, err := pmi.Parse("cmd=put kvsname=kvs_1 key=address value=host a, port 7")
	fmt.Println(msg.Command, msg.Get("key"), err)
	fmt.Println(msg.Get("value"))
	// Output:
	// put address <nil>
	// host a, port 7
}
