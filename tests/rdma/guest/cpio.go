// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"fmt"
)

// An archive is a cpio archive of the kind that Linux unpacks into its first root folder: cpio(5), "newc".
type archive struct {
	bytes.Buffer
	entries int
}

const folderMode, fileMode = 0o040755, 0o100755

// add appends a file, or a folder without content.
func (a *archive) add(name string, mode int, content []byte) {
	a.entries++
	// Magic, inode, mode, uid, gid, links, time, size, device, device of a device file, length of the name with its NUL, checksum.
	fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.entries, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0)
	a.WriteString(name + "\x00")
	a.pad()
	a.Write(content)
	a.pad()
}

// pad fills up to a multiple of four bytes.
func (a *archive) pad() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}

// end writes the last entry.
func (a *archive) end() { a.add("TRAILER!!!", 0, nil) }
