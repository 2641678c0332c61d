// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/tpsl/tpsl/hydra/options"
	"github.com/tpsl/tpsl/hydra/plan"
)

func ExampleNew() {
	asked, err := options.Parse(strings.Fields("-n 5 -rpp 2 ./prog : -n 1 ./other"), os.Getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	made, err := plan.New(asked.Request, plan.Site{Host: "node1", Dir: "/home/user"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, set := range made.Hosts[0].Sets {
		fmt.Println(made.Hosts[0].Programs[set.Program].Args[0], set.Label())
	}
	// Output:
	// ./prog 0-1
	// ./prog 2-3
	// ./prog 4
	// ./other 5
}
