// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/elf"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
)

// writeList prints the functions that the library at path exports, one line per
// address, MPI_ names first in a line, lines in the order of their first names.
func writeList(w io.Writer, path string) error {
	m, err := image.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	byAddress := map[uint64][]string{}
	for s := range m.Exports() {
		if s.Type == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			byAddress[s.Value] = append(byAddress[s.Value], s.Name)
		}
	}
	var lines []string
	for _, names := range byAddress {
		sort.Strings(names)
		lines = append(lines, strings.Join(names, " "))
	}
	sort.Strings(lines)
	fmt.Fprintf(w, "# %s\n# SPDX-License-Identifier: Apache-2.0\n", header)
	fmt.Fprintf(w, "# Functions of %s, those at one address on one line. Made by stubgen -list.\n", m.Soname)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	return nil
}
