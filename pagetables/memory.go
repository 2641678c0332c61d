// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A memory reads the memory of a process: /proc/PID/mem.
type memory struct{ io.ReaderAt }

// words reads n words of 8 bytes.
func (m memory) words(address uint64, n int) ([]uint64, error) {
	if address >= 1<<47 || n > maxWords {
		return nil, fmt.Errorf("%w address %#x", errMalformed, address)
	}
	bytes := make([]byte, 8*n)
	if read, err := m.ReadAt(bytes, int64(address)); read < len(bytes) {
		return nil, fmt.Errorf("read memory at %#x: %w", address, err)
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(bytes[8*i:])
	}
	return words, nil
}

const maxWords = 1 << 12

func (m memory) word(address uint64) (uint64, error) {
	w, err := m.words(address, 1)
	if err != nil {
		return 0, err
	}
	return w[0], nil
}

// number reads an int of C.
func (m memory) number(address uint64) (int, error) {
	w, err := m.word(address &^ 7)
	return int(int32(w >> (8 * (address & 4)))), err
}

// note finds the census of the library that is mapped at base: the note of process/census.c.
func (m memory) note(base uint64) (uint64, error) {
	header := make([]byte, 64)
	if n, err := m.ReadAt(header, int64(base)); n < len(header) || string(header[:4]) != elf.ELFMAG {
		return 0, errors.Join(errNoCensus, err)
	}
	at, size, count := binary.LittleEndian.Uint64(header[32:]), uint64(binary.LittleEndian.Uint16(header[54:])), uint64(binary.LittleEndian.Uint16(header[56:]))
	if at > pageSize || size != 56 || count > 64 {
		return 0, errNoCensus
	}
	for i := range count {
		phdr, err := m.words(base+at+i*size, 7)
		if err != nil {
			return 0, err
		}
		if elf.ProgType(uint32(phdr[0])) != elf.PT_NOTE || phdr[4] > pageSize {
			continue
		}
		notes := make([]byte, phdr[4])
		if n, _ := m.ReadAt(notes, int64(base+phdr[2])); n == len(notes) {
			if in, distance := findNote(notes); in > 0 {
				return base + phdr[2] + in + distance, nil
			}
		}
	}
	return 0, errNoCensus
}

// findNote returns where in a segment of notes the census's distance stands, and what it
// says. 0: there is none.
func findNote(notes []byte) (at, distance uint64) {
	align := func(n uint64) uint64 { return (n + 3) &^ 3 }
	for at := uint64(0); at+12 <= uint64(len(notes)); {
		name := uint64(binary.LittleEndian.Uint32(notes[at:]))
		data := uint64(binary.LittleEndian.Uint32(notes[at+4:]))
		kind := binary.LittleEndian.Uint32(notes[at+8:])
		start := at + 12 + align(name)
		end := start + align(data)
		if end > uint64(len(notes)) {
			break
		}
		if kind == 2 && data == 8 && string(notes[at+12:at+12+name]) == "tpsl\x00" {
			return start, binary.LittleEndian.Uint64(notes[start:])
		}
		at = end
	}
	return 0, 0
}
