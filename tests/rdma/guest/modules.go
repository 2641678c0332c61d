// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// drivers are the modules that a guest needs; those that they depend on are found. crc32_generic is rxe's checksum, which it asks for by name.
var drivers = []string{"virtio_pci", "virtio_net", "9pnet_virtio", "9p", "overlay", "crc32_generic", "rdma_ucm", "rdma_rxe", "dummy"}

// moduleName is a module's name as its dependants write it.
func moduleName(path string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".ko"), "-", "_")
}

// moduleOrder returns names and all that they depend on, each after what it needs.
func moduleOrder(names []string, needs func(string) ([]string, error)) (order []string, err error) {
	const pending, placed = 1, 2
	state := map[string]int{}
	var place func(name string) error
	place = func(name string) error {
		switch state[name] {
		case placed:
			return nil
		case pending:
			return fmt.Errorf("module %s depends on itself", name)
		}
		state[name] = pending
		below, err := needs(name)
		if err != nil {
			return err
		}
		for _, n := range below {
			if err := place(n); err != nil {
				return err
			}
		}
		state[name] = placed
		order = append(order, name)
		return nil
	}
	for _, name := range names {
		if err := place(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// dependencies reads a module's own list of the modules it needs, so that no depmod has to run.
func dependencies(module []byte) ([]string, error) {
	file, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	section := file.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("no section .modinfo")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(info), "\x00") {
		list, found := strings.CutPrefix(entry, "depends=")
		if !found {
			continue
		}
		return strings.FieldsFunc(strings.ReplaceAll(list, "-", "_"), func(r rune) bool { return r == ',' }), nil
	}
	return nil, nil
}

// findModules returns the files of the drivers and what they depend on, below a folder, in the order to load them.
func findModules(folder string) ([]string, error) {
	paths := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".ko" {
			paths[moduleName(path)] = path
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	order, err := moduleOrder(drivers, func(name string) ([]string, error) {
		content, err := os.ReadFile(paths[name])
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}
		below, err := dependencies(content)
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}
		return below, nil
	})
	for i, name := range order {
		order[i] = paths[name]
	}
	return order, err
}
