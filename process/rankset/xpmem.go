// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"os"
	"path/filepath"
)

// Instead returns the files, in folder, that instances get in place of libraries of these names: XPMEM's (process/xpmem). It serves ranks
// of one address space only, and a library that finds it expects that it serves all ranks of the host.
func (s *Set) Instead(folder string) map[string]string {
	if s.Peers || !s.NoXPMEM {
		return nil
	}
	return map[string]string{"libxpmem.so.0": filepath.Join(folder, "libtpslxpmem.so")}
}

// hasXPMEM tells whether the host has XPMEM's device, without which XPMEM's own library is of no use. dev is where the devices are.
func hasXPMEM(dev string) bool {
	_, err := os.Stat(filepath.Join(dev, "xpmem"))
	return err == nil
}
