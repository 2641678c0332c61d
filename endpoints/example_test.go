// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

import "fmt"

func ExampleStateOf() {
	if err := makeOnce(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(Count(), StateOf(7))
	// Output: 8 free
}
