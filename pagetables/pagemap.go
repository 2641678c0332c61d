// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Entries of /proc/PID/pagemap: proc_pid_pagemap(5).
const (
	entryPresent   = 1 << 63
	entrySwapped   = 1 << 62
	entryFile      = 1 << 61 // of a file or shared memory
	entryExclusive = 1 << 56 // mapped once
	entryFrame     = 1<<55 - 1
)

// unscanned is how much of the address space is read page by page where the kernel cannot
// scan: 8 bytes for each page of it, whether there is one or not.
const unscanned = 1 << 40

// A pageMap is /proc/PID/pagemap.
type pageMap struct {
	file  *os.File
	scans bool // the kernel has PAGEMAP_SCAN (Linux 6.7)
}

func openPageMap(path string) (*pageMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &pageMap{file: f, scans: scans(f)}, nil
}

// populated calls each with every run of pages that are resident or swapped. Where the
// kernel scans, pages of the zero page, which smaps does not count either, are not in it.
func (p *pageMap) populated(start, end uint64, each func(start, end uint64)) error {
	if p.scans {
		return scanPages(p.file, start, end, each)
	}
	if end-start > unscanned {
		return fmt.Errorf("mapping at %#x: %w", start, errTooLarge)
	}
	from, until := uint64(0), uint64(0)
	err := p.read(start, end, func(address, entry uint64) {
		switch {
		case entry&(entryPresent|entrySwapped) == 0:
		case until != address || from == until:
			if from < until {
				each(from, until)
			}
			from, until = address, address+pageSize
		default:
			until += pageSize
		}
	})
	if from < until {
		each(from, until)
	}
	return err
}

// read calls each with the entry of every page. What is behind the end of the address
// space has none.
func (p *pageMap) read(start, end uint64, each func(address, entry uint64)) error {
	entries := make([]byte, min((end-start)/pageSize*8, 8192))
	for start < end {
		want := min((end-start)/pageSize*8, uint64(len(entries)))
		n, err := p.file.ReadAt(entries[:want], int64(start/pageSize*8))
		for i := 0; i+8 <= n; i += 8 {
			each(start, binary.LittleEndian.Uint64(entries[i:]))
			start += pageSize
		}
		if n < 8 && (err == nil || errors.Is(err, io.EOF)) {
			return nil
		} else if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read page map at %#x: %w", start, err)
		}
	}
	return nil
}

func (p *pageMap) close() { _ = p.file.Close() }
