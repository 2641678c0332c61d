// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command libtpslhost is the library behind the host of private programs:
//
//	go build -buildmode=c-shared -o lib/tpsl/libtpslhost.so ./cmd/libtpslhost
package main

import (
	"C"

	_ "github.com/tpsl/tpsl/host"
)

func main() {}
