// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset_test

import (
	"fmt"

	"github.com/tpsl/tpsl/process/rankset"
)

// What the launcher says and what the second rank's MPI library then sees.
func Example() {
	launcher := map[string]string{"PMI_FD": "7,9", "PMI_RANK": "2,3", "PMI_SIZE": "4", "UCX_HANDLE_ERRORS": "bt", "UCX_DEBUG_SIGNO": "SIGHUP", "HWLOC_PLUGINS_BLACKLIST": "none.so", "UCX_MM_RX_BUFS_GROW": "512"}
	getenv := func(name string) string { return launcher[name] }
	set, err := rankset.Parse(getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Environment(1, getenv))
	// Output: [PMI_FD=9 PMI_RANK=3 PMI_SIZE=4]
}
