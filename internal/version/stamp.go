// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package version

import "bytes"

// Stamp is what a library has in its file to tell its version, where [In] and strings(1)
// find it: "tpsl_version=1.2.3;". The Makefile sets it; there is no other copy in the file.
var Stamp string

const mark = "tpsl_version="

// In returns the version that a library's file has a stamp of, "" if it has none.
func In(file []byte) string {
	_, rest, _ := bytes.Cut(file, []byte(mark))
	version, _, ok := bytes.Cut(rest, []byte(";"))
	if !ok || len(version) > 100 {
		return ""
	}
	return string(version)
}
