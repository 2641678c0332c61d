// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command libtpslhost is the library behind the host of private programs:
//
//	go build -buildmode=c-shared -o lib/tpsl/libtpslhost.so ./cmd/libtpslhost
package main

import (
	"C"

	_ "github.com/tpsl/tpsl/host"
	"github.com/tpsl/tpsl/internal/version"
)

// main is not called in a library. It keeps the stamp in the file.
func main() { print(version.Stamp) }
