// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

import "fmt"

func ExampleMake() {
	job, err := Make([]int{4, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer job.Free()
	fmt.Println(job.Count(), job.StateOf(1))
	// Output: 2 free
}
