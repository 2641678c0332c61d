// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"os"
	"path/filepath"
)

// File returns a file of lib/tpsl in the installation that the running program is of. An error says that it is not there.
func File(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(filepath.Dir(self)), "lib", "tpsl", name)
	_, err = os.Stat(file)
	return file, err
}
