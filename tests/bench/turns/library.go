// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

const libraryKey = "library:"

// TakeLibrary takes the lines "library: FILE..." (programs/library.h) out of a
// program's output.
func TakeLibrary(output string) (rest string, files []string) {
	var kept strings.Builder
	for line := range strings.Lines(output) {
		if list, ok := strings.CutPrefix(line, libraryKey); ok {
			files = append(files, strings.Join(strings.Fields(list), " "))
		} else {
			kept.WriteString(line)
		}
	}
	return kept.String(), files
}

// A LibraryCheck refuses to compare what different MPI libraries did, and sides
// of one contest that tell their library with such that do not.
type LibraryCheck struct {
	files, by string
	tells     map[int]string // by contest: its first side, if that one told
}

// See notes what a side of a contest ran; first tells that it was the first that told.
func (c *LibraryCheck) See(contest int, by string, seen []string) (first bool, err error) {
	if c.tells == nil {
		c.tells = map[int]string{}
	}
	for _, files := range seen {
		switch {
		case files == "":
			return first, fmt.Errorf("%s: found neither libmpich nor libmpi among the files that it ran", by)
		case c.files == "":
			c.files, c.by, first = files, by, true
		case c.files != files:
			return first, fmt.Errorf("refuse to compare different libraries: %s ran %s, %s ran %s", c.by, c.files, by, files)
		}
	}
	teller, known := c.tells[contest]
	switch {
	case !known && len(seen) > 0:
		c.tells[contest] = by
	case !known:
		c.tells[contest] = ""
	case teller == "" && len(seen) > 0:
		return first, fmt.Errorf("%s says which MPI library it ran, another side of its contest does not", by)
	case teller != "" && len(seen) == 0:
		return first, fmt.Errorf("%s says which MPI library it ran, %s does not", teller, by)
	}
	return first, nil
}

// describeLibraries names files with their build IDs: "libmpich.so.12.2.0 (1f2e3d)".
func describeLibraries(files string) string {
	var names []string
	for _, path := range strings.Fields(files) {
		names = append(names, fmt.Sprintf("%s (build ID %s)", filepath.Base(path), buildID(path)))
	}
	return strings.Join(names, ", ")
}

// buildID returns the note of the linker that tells builds apart.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	note := f.Section(".note.gnu.build-id")
	if note == nil {
		return "none"
	}
	data, err := note.Data()
	const header = 16 // three words, then "GNU\0": elf(5), Notes
	if err != nil || len(data) <= header {
		return "unknown"
	}
	return hex.EncodeToString(data[header:])
}
