// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"debug/elf"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed init.sh
var initScript []byte

// initramfs returns a guest's first root folder: busybox, the modules, and a script that finds the real one.
func initramfs(k kernel) ([]byte, error) {
	busybox, err := staticBusybox()
	if err != nil {
		return nil, err
	}
	modules, err := k.modules()
	if err != nil {
		return nil, err
	}
	var a archive
	for _, folder := range []string{"bin", "dev", "host", "memory", "modules", "proc", "root"} {
		a.add(folder, folderMode, nil)
	}
	a.add("init", fileMode, initScript)
	a.add("bin/busybox", fileMode, busybox)
	for _, path := range modules {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		a.add("modules/"+filepath.Base(path), fileMode, content)
	}
	a.end()
	return a.Bytes(), nil
}

func staticBusybox() ([]byte, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("%w: install Debian's package busybox-static", err)
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		return nil, fmt.Errorf("%s needs libraries %q: install Debian's package busybox-static", path, libraries)
	}
	return os.ReadFile(path)
}
