// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command libtpsl is the shared library that programs link:
//
//	go build -buildmode=c-shared -o lib/libtpsl.so.0 ./cmd/libtpsl
package main

import (
	"C"

	"github.com/tpsl/tpsl/internal/version"
	_ "github.com/tpsl/tpsl/tpsl"
)

// main is not called in a library. It keeps the stamp in the file.
func main() { print(version.Stamp) }
