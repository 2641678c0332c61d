// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"fmt"
	"log"

	"github.com/tpsl/tpsl/loader/image"
)

func Example() {
	libc, err := image.Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		log.Fatal(err)
	}
	defer libc.Close()

	fmt.Println(libc.Soname, "needs", libc.Needed)
	if s, ok := libc.Lookup("qsort", "GLIBC_2.2.5"); ok {
		fmt.Println(s.Name, s.Version, s.Type)
	}
	// Output:
	// libc.so.6 needs [ld-linux-x86-64.so.2]
	// qsort GLIBC_2.2.5 STT_FUNC
}
