// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import "strings"

// Heap tells whether others free their memory by this object, in the C library's place.
// They may have got it from the C library, by strdup or getline.
func (m *Image) Heap() bool {
	_, frees := m.Lookup("free", "")
	return frees && !strings.HasPrefix(m.Soname, "libc.so.") && !strings.HasPrefix(m.Soname, "ld-linux")
}
