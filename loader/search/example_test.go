// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"fmt"
	"log"
	"os"

	"github.com/tpsl/tpsl/loader/search"
)

func Example() {
	path := search.New(os.Getenv("LD_LIBRARY_PATH"))
	closure, err := path.Closure("/bin/bash")
	if err != nil {
		log.Fatal(err)
	}
	defer closure.Close()

	libc := closure.Find("libc.so.6")
	for _, i := range libc.Deps {
		fmt.Println(libc.Soname, "needs", closure.Objects[i].Soname)
	}
	// Output: libc.so.6 needs ld-linux-x86-64.so.2
}
