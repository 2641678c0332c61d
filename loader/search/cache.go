// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// cache maps a library's name to its path.
type cache map[string]string

// The format of /etc/ld.so.cache, from glibc's sysdeps/generic/dl-cache.h. All
// offsets count from the start of the new format's header. This header is at the
// start of the file, or after the table of the old format.
const (
	oldMagic     = "ld.so-1.7.0"
	oldHeader    = 16 // magic, padding, u32 number of entries
	oldEntrySize = 12
	newMagic     = "glibc-ld.so.cache1.1"
	newHeader    = 48 // magic, u32 entries, u32 size of strings, u8 byte order, pad, u32 offset of extensions
	newEntrySize = 24 // u32 flags, name, path, OS version, u64 hwcap

	flagElf       = 1
	flagX8664Libc = 0x0303 // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6

	bigEndian = 3 // cache_file_new_flags_endian_big

	// hwcapExtension, in the upper half of an entry's hwcap, says that the lower
	// half is an index into the extension with the names of subdirectories.
	hwcapExtension  = 1 << 30
	extensionMagic  = 0xeaa42174
	extensionHwcaps = 1
)

// parseCache reads a cache for a machine with these hwcaps subdirectories. The best
// subdirectory comes first. Malformed entries are left out.
func parseCache(data []byte, hwcaps []string) cache {
	data = newFormat(data)
	if len(data) < newHeader || data[28] == bigEndian {
		return nil
	}
	le := binary.LittleEndian
	n := le.Uint32(data[20:])
	subdirs := cacheHwcaps(data)
	found := cache{}
	rank := map[string]int{} // of each entry in found; a lower rank is better
	for table := data[newHeader:]; n > 0 && len(table) >= newEntrySize; n, table = n-1, table[newEntrySize:] {
		if f := le.Uint32(table); f != flagElf && f != flagX8664Libc {
			continue
		}
		r, ok := entryRank(le.Uint64(table[16:]), subdirs, hwcaps)
		name, okName := cacheString(data, le.Uint32(table[4:]))
		path, okPath := cacheString(data, le.Uint32(table[8:]))
		if !ok || !okName || !okPath || name == "" || path == "" {
			continue
		}
		if best, seen := rank[name]; !seen || r < best {
			found[name], rank[name] = path, r
		}
	}
	return found
}

// newFormat returns the data from the header of the new format on. It returns nil
// if there is no such header.
func newFormat(data []byte) []byte {
	if bytes.HasPrefix(data, []byte(oldMagic)) && len(data) >= oldHeader {
		n := uint64(binary.LittleEndian.Uint32(data[12:]))
		// The new header is aligned to 8 bytes, because it has u64 members.
		at := (oldHeader + n*oldEntrySize + 7) &^ 7
		if at > uint64(len(data)) {
			return nil
		}
		data = data[at:]
	}
	if !bytes.HasPrefix(data, []byte(newMagic)) {
		return nil
	}
	return data
}

// entryRank returns the rank of an entry, which is the index of its subdirectory
// in hwcaps. An entry without a subdirectory comes after all of them. The second
// result is false if this machine cannot use the entry.
func entryRank(hwcap uint64, subdirs, hwcaps []string) (int, bool) {
	if hwcap == 0 {
		return len(hwcaps), true
	}
	index := hwcap & 0xffffffff
	if hwcap>>32 != hwcapExtension || index >= uint64(len(subdirs)) {
		return 0, false
	}
	i := slices.Index(hwcaps, subdirs[index])
	return i, i >= 0
}

// cacheHwcaps returns the names of subdirectories from the extension.
func cacheHwcaps(data []byte) []string {
	le := binary.LittleEndian
	at := uint64(le.Uint32(data[32:]))
	if at == 0 || at+8 > uint64(len(data)) || le.Uint32(data[at:]) != extensionMagic {
		return nil
	}
	sections := data[at+8:]
	// Each section: u32 tag, flags, offset, size.
	for n := le.Uint32(data[at+4:]); n > 0 && len(sections) >= 16; n, sections = n-1, sections[16:] {
		if le.Uint32(sections) != extensionHwcaps {
			continue
		}
		offset, size := uint64(le.Uint32(sections[8:])), uint64(le.Uint32(sections[12:]))
		if offset+size > uint64(len(data)) {
			return nil
		}
		var names []string
		for list := data[offset : offset+size]; len(list) >= 4; list = list[4:] {
			name, _ := cacheString(data, le.Uint32(list))
			names = append(names, name)
		}
		return names
	}
	return nil
}

// maxName is PATH_MAX.
const maxName = 4096

// cacheString copies the string at an offset. The second result is false if the
// string does not end inside the file, or if it is longer than a path can be.
func cacheString(data []byte, at uint32) (string, bool) {
	if uint64(at) >= uint64(len(data)) {
		return "", false
	}
	s := data[at:]
	s = s[:min(len(s), maxName)]
	n := bytes.IndexByte(s, 0)
	if n < 0 {
		return "", false
	}
	return string(s[:n]), true
}
