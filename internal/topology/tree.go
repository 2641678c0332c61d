// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"io/fs"
	"strconv"
	"strings"
)

// A tree reads files of /sys. A file that is missing, or holds something else, reads as nothing.
type tree struct{ sys fs.FS }

func (t tree) text(file string) string {
	text, err := fs.ReadFile(t.sys, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// number reads a number from 0.
func (t tree) number(file string, missing int) int {
	n, err := strconv.ParseUint(t.text(file), 0, 31)
	if err != nil {
		return missing
	}
	return int(n)
}

func (t tree) set(file string) Set {
	s, err := ParseSet(t.text(file))
	if err != nil {
		return nil
	}
	return s
}

// holding returns the first set that has the CPU, of those in the files.
func (t tree) holding(cpu int, files ...string) Set {
	for _, file := range files {
		if s := t.set(file); s.Has(cpu) {
			return s
		}
	}
	return nil
}

// list returns the names in a folder, sorted.
func (t tree) list(folder string) []string {
	entries, err := fs.ReadDir(t.sys, folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// numbered returns N of prefixN.
func numbered(name, prefix string) (int, bool) {
	digits, found := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), found && err == nil
}
