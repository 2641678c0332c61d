// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func isDebug(section string) bool {
	return strings.HasPrefix(section, ".debug_info") || strings.HasPrefix(section, ".debug_line")
}

// Separate opens the file that has the debugging information of the open file at path; nil:
// there is none. gdb's manual says where to look, "Debugging Information in Separate Files": by
// build ID, then by the name that the file gives. debug is a folder as [Folder].
func Separate(path string, file *elf.File, debug string) *elf.File {
	if id := BuildID(file); len(id) > 2 {
		name := filepath.Join(debug, ".build-id", id[:2], id[2:]+".debug")
		if found, err := elf.Open(name); err == nil {
			if BuildID(found) == id {
				return found
			}
			found.Close()
		}
	}
	name, sum, ok := debugLink(file)
	if !ok {
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := filepath.Dir(path)
	for _, candidate := range []string{filepath.Join(folder, name), filepath.Join(folder, ".debug", name), filepath.Join(debug, folder, name)} {
		if found := openSummed(candidate, sum); found != nil {
			return found
		}
	}
	return nil
}

// BuildID returns the build ID of a file in hexadecimal digits; "": it has none.
func BuildID(file *elf.File) string {
	note := file.Section(".note.gnu.build-id")
	if note == nil {
		return ""
	}
	data, err := note.Data()
	const header = 16 // sizes of name and descriptor, type, "GNU\0"
	if err != nil || len(data) <= header || !bytes.Equal(data[12:header], []byte("GNU\x00")) {
		return ""
	}
	return hex.EncodeToString(data[header:])
}

// debugLink returns what the section .gnu_debuglink says: a file's name, zeros up to a multiple
// of four bytes, and the CRC-32 of that file.
func debugLink(file *elf.File) (name string, sum uint32, ok bool) {
	section := file.Section(".gnu_debuglink")
	if section == nil {
		return "", 0, false
	}
	data, err := section.Data()
	end := bytes.IndexByte(data, 0)
	if err != nil || end < 1 || len(data) < 4 {
		return "", 0, false
	}
	name = string(data[:end])
	return name, file.ByteOrder.Uint32(data[len(data)-4:]), filepath.Base(name) == name
}

// openSummed opens an ELF file whose content has a CRC-32; nil: there is no such file.
func openSummed(path string, sum uint32) *elf.File {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, file); err != nil || crc.Sum32() != sum {
		return nil
	}
	found, err := elf.Open(path)
	if err != nil {
		return nil
	}
	return found
}
