// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const pageSize = 4096 // of amd64

// Mapping is an entry of /proc/PID/maps or smaps (proc_pid_smaps(5)). Figures is zero in
// one of maps, but for Mapped.
type Mapping struct {
	Start, End, Offset uint64
	Perm               string // as "r-xp"
	Device             string
	Inode              uint64
	Name               string // path, "[stack]" and its like, or ""
	PageSize           uint64 // 0: maps does not tell
	Figures
}

// OfFile tells whether the pages come from a file, unless they were copied.
func (m *Mapping) OfFile() bool {
	const huge = "/anon_hugepage (deleted)" // a file of the kernel's own, for memory without a file in pages of hugetlb
	return m.Inode != 0 && (m.Name != huge || !m.isPrivate())
}

func (m *Mapping) isPrivate() bool { return strings.HasSuffix(m.Perm, "p") }

// longest is how many bytes a line may have: a path, each byte of it escaped, and more.
const longest = 64 << 10

// ReadMappings passes each entry of a text of maps or smaps to each, in the order of
// addresses. It keeps one entry, which each must not keep.
//
// The kernel writes such a text in parts, between which mappings may grow, merge and split. Where two entries overlap the
// later one holds, and no address is passed twice.
func ReadMappings(text io.Reader, each func(*Mapping) error) error {
	lines := bufio.NewReaderSize(text, longest)
	var m Mapping
	for first := true; ; {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			header, more := m.read(bytes.TrimSuffix(line, []byte{'\n'}), first)
			if more != nil {
				return more
			}
			if header != nil {
				if !first && !header.replaces(&m) {
					if more := each(&m); more != nil {
						return more
					}
				}
				m, first = *header, false
			}
		}
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read mappings behind %#x: %w", m.End, err)
		}
	}
	if m.End == 0 {
		return nil
	}
	return each(&m)
}

// read takes a line: a figure of the mapping, or the header of the next one.
func (m *Mapping) read(line []byte, first bool) (*Mapping, error) {
	if key, value, ok := bytes.Cut(line, []byte{':'}); ok && isKey(key) {
		if first {
			return nil, fmt.Errorf("%w mapping: %.80q is before the first one", errMalformed, line)
		}
		return nil, m.set(string(key), string(value))
	}
	next, err := parseHeader(string(line))
	if err == nil && next.End <= m.Start {
		err = fmt.Errorf("%w mapping: %#x is not behind %#x", errMalformed, next.Start, m.Start)
	}
	return next, err
}

// replaces cuts an entry, or the one before it, where they overlap, and tells whether nothing is left of the one before.
func (m *Mapping) replaces(before *Mapping) bool {
	switch {
	case m.Start >= before.End:
		return false
	case m.Start > before.Start:
		before.End = m.Start
		before.Mapped = before.End - before.Start
		return false
	}
	if m.OfFile() {
		m.Offset += before.Start - m.Start
	}
	m.Start = before.Start
	m.Mapped = m.End - m.Start
	return true
}

// isKey tells a figure's name from the start of a header, as in "7f00-7f01 r--p 0 08:".
func isKey(key []byte) bool {
	return len(key) > 0 && key[0] >= 'A' && key[0] <= 'Z' && !bytes.ContainsAny(key, " -")
}

// parseHeader reads "START-END PERM OFFSET DEVICE INODE   NAME".
func parseHeader(line string) (*Mapping, error) {
	var m Mapping
	rest := line
	word := func() (w string) {
		w, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		return w
	}
	start, end, _ := strings.Cut(word(), "-")
	m.Perm = word()
	offset := word()
	m.Device = word()
	inode := word()
	m.Name = strings.TrimLeft(rest, " ")
	var errs [4]error
	m.Start, errs[0] = strconv.ParseUint(start, 16, 64)
	m.End, errs[1] = strconv.ParseUint(end, 16, 64)
	m.Offset, errs[2] = strconv.ParseUint(offset, 16, 64)
	m.Inode, errs[3] = strconv.ParseUint(inode, 10, 64)
	if err := errors.Join(errs[:]...); err != nil || m.Start >= m.End || (m.Start|m.End)%pageSize != 0 || len(m.Perm) != 4 {
		return nil, fmt.Errorf("%w mapping: %.80q", errMalformed, line)
	}
	m.Mapped = m.End - m.Start
	return &m, nil
}

// set takes a figure of smaps; names that are not known are those of other kernels.
func (m *Mapping) set(key, value string) error {
	var to *uint64
	var huge uint64
	switch key {
	case "KernelPageSize":
		to = &m.PageSize
	case "Rss":
		to = &m.Resident
	case "Shared_Clean":
		to = &m.SharedClean
	case "Shared_Dirty":
		to = &m.SharedDirty
	case "Private_Clean":
		to = &m.PrivateClean
	case "Private_Dirty":
		to = &m.PrivateDirty
	case "Anonymous":
		to = &m.Anonymous
	case "Swap":
		to = &m.Swapped
	case "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped":
		to = &m.Huge
	case "Shared_Hugetlb", "Private_Hugetlb":
		to = &huge
	default:
		return nil
	}
	kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 54)
	if err != nil {
		return fmt.Errorf("%w mapping: %s of %#x: %.40q", errMalformed, key, m.Start, value)
	}
	*to += kilobytes << 10
	if key == "Anonymous" && m.OfFile() && m.isPrivate() {
		m.Copied = m.Anonymous
	}
	m.addHugetlb(huge, key == "Shared_Hugetlb")
	return nil
}

// addHugetlb counts pages of hugetlb, which the kernel has in none of its sums. They are never clean, as nothing is behind them.
// In a private mapping they are memory without a file, but for those of a file that may only be read.
func (m *Mapping) addHugetlb(bytes uint64, shared bool) {
	m.Huge += bytes
	m.Resident += bytes
	if shared {
		m.SharedDirty += bytes
	} else {
		m.PrivateDirty += bytes
	}
	if m.isPrivate() && (!m.OfFile() || m.Perm[1] == 'w') {
		m.Anonymous += bytes
		if m.OfFile() {
			m.Copied += bytes
		}
	}
}
