// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command libtpslmsg is the shared library that programs in C link for messages without MPI:
//
//	go build -buildmode=c-shared -o lib/libtpslmsg.so.0 ./cmd/libtpslmsg
package main

import (
	"C"

	_ "github.com/tpsl/tpsl/endpoints/tpslmsg"
	"github.com/tpsl/tpsl/internal/version"
)

// main is not called in a library. It keeps the stamp in the file.
func main() { print(version.Stamp) }
