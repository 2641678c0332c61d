// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"encoding/binary"
	"os"
	"path/filepath"
)

// Bits of /proc/kpageflags: <linux/kernel-page-flags.h>.
const (
	flagHuge     = 1 << 17
	flagMerged   = 1 << 21 // by KSM
	flagHugePage = 1 << 22 // of transparent huge pages
	flagZero     = 1 << 24 // the page of zeros, for what was read and never written
)

// frames tell about page frames: /proc/kpagecount and kpageflags, which CAP_SYS_ADMIN may
// read. Without them nothing is known of a frame.
type frames struct{ counts, flags *os.File }

func (p Proc) frames() frames {
	counts, err := os.Open(filepath.Join(string(p), "kpagecount"))
	if err != nil {
		return frames{}
	}
	flags, err := os.Open(filepath.Join(string(p), "kpageflags"))
	if err != nil {
		_ = counts.Close()
		return frames{}
	}
	return frames{counts, flags}
}

func (f frames) close() {
	if f.counts != nil {
		_ = f.counts.Close()
		_ = f.flags.Close()
	}
}

// of returns how often a frame is mapped, by all processes, and its flags; 0 if not known.
func (f frames) of(frame uint64) (count, flags uint64) {
	if f.counts == nil || frame == 0 {
		return 0, 0
	}
	return wordAt(f.counts, frame), wordAt(f.flags, frame)
}

// areZeros tells an entry of the page of zeros, which smaps does not count, and which a kernel that scans does not list.
func (f frames) areZeros(entry uint64) bool {
	if entry&entryPresent == 0 || entry&(entryFile|entryExclusive) != 0 {
		return false
	}
	_, flags := f.of(entry & entryFrame)
	return flags&flagZero != 0
}

func wordAt(f *os.File, index uint64) uint64 {
	var word [8]byte
	if n, _ := f.ReadAt(word[:], int64(index)*8); n < len(word) {
		return 0
	}
	return binary.LittleEndian.Uint64(word[:])
}
