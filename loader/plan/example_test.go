// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/loader/plan"
)

const testTimeout = 2 * time.Minute

func ExamplePolicy_Place() {
	p := plan.DefaultPolicies().Opened
	fmt.Println(p.Place("libmpich.so.12"), p.Place("libucm.so.0"), p.Place("libc.so.6"))
	// Output: private once shared
}
