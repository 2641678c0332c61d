// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

// gnuHash is a DT_GNU_HASH table: a Bloom filter, then buckets that name the
// first symbol of a chain, then one hash per symbol, its lowest bit set at the
// end of a chain. Symbols below first are not in it.
type gnuHash struct {
	first, shift           uint32
	bloom, buckets, chains []byte
}

// sysvHash is a DT_HASH table (gABI, chapter 5): buckets that name the first
// symbol of a chain, then one link per symbol.
type sysvHash struct {
	buckets, chains []byte
}

func word(b []byte, i uint32) uint32 { return binary.LittleEndian.Uint32(b[uint64(i)*4:]) }

// setHashes reads the hash tables and takes the number of symbols from them.
func (m *Image) setHashes() error {
	if m.GNUHashVaddr != 0 {
		if err := m.readGNUHash(); err != nil {
			return fmt.Errorf("DT_GNU_HASH: %w", err)
		}
	}
	if m.SysVHashVaddr != 0 {
		if err := m.readSysVHash(); err != nil {
			return fmt.Errorf("DT_HASH: %w", err)
		}
	}
	return nil
}

func (m *Image) readGNUHash() error {
	const header = 16
	b, err := m.rest(m.GNUHashVaddr)
	if err != nil {
		return err
	}
	if len(b) < header {
		return errOutside
	}
	nbuckets, words := word(b, 0), word(b, 2)
	h := &gnuHash{first: word(b, 1), shift: word(b, 3)}
	if bits.OnesCount32(words) != 1 {
		return fmt.Errorf("%d words of Bloom filter, not a power of two", words)
	}
	bloomEnd := header + 8*uint64(words)
	bucketsEnd := bloomEnd + 4*uint64(nbuckets)
	if bucketsEnd > uint64(len(b)) {
		return fmt.Errorf("%d buckets, %d words of Bloom filter: %w", nbuckets, words, errOutside)
	}
	h.bloom, h.buckets, h.chains = b[header:bloomEnd], b[bloomEnd:bucketsEnd], b[bucketsEnd:]
	n, err := h.count()
	if err != nil {
		return err
	}
	if uint64(n)*symSize > uint64(len(m.symtab)) {
		return fmt.Errorf("%d symbols: %w", n, errOutside)
	}
	m.gnu, m.SymbolCount = h, n
	return nil
}

// count returns the number of symbols: the longest reaching chain ends behind
// the last. Without definitions it is unknown, and first is returned.
func (h *gnuHash) count() (uint32, error) {
	var last uint32
	for i := range uint32(len(h.buckets) / 4) {
		head := word(h.buckets, i)
		if head != 0 && head < h.first {
			return 0, fmt.Errorf("bucket %d: symbol %d is below the first in the table, %d", i, head, h.first)
		}
		last = max(last, head)
	}
	if last == 0 {
		return h.first, nil
	}
	for ; uint64(last-h.first) < uint64(len(h.chains)/4); last++ {
		if word(h.chains, last-h.first)&1 != 0 {
			return last + 1, nil
		}
	}
	return 0, errors.New("the last chain does not end")
}

func (m *Image) readSysVHash() error {
	const header = 8
	b, err := m.rest(m.SysVHashVaddr)
	if err != nil {
		return err
	}
	if len(b) < header {
		return errOutside
	}
	nbucket, nchain := word(b, 0), word(b, 1)
	bucketsEnd := header + 4*uint64(nbucket)
	chainsEnd := bucketsEnd + 4*uint64(nchain)
	if chainsEnd > uint64(len(b)) || uint64(nchain)*symSize > uint64(len(m.symtab)) {
		return fmt.Errorf("%d buckets, %d symbols: %w", nbucket, nchain, errOutside)
	}
	m.sysv = &sysvHash{buckets: b[header:bucketsEnd], chains: b[bucketsEnd:chainsEnd]}
	m.SymbolCount = nchain
	return nil
}

// candidates returns the symbols that a hash table lists for a name, all symbols
// where there is no table.
func (m *Image) candidates(name string) iter.Seq[uint32] {
	switch {
	case m.gnu != nil:
		return m.gnu.candidates(name)
	case m.sysv != nil:
		return m.sysv.candidates(name)
	}
	return func(yield func(uint32) bool) {
		for i := range m.SymbolCount {
			if !yield(i) {
				return
			}
		}
	}
}

func (h *gnuHash) candidates(name string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		nbuckets := uint32(len(h.buckets) / 4)
		hash := gnuHashOf(name)
		if nbuckets == 0 || !h.mayHave(hash) {
			return
		}
		i := word(h.buckets, hash%nbuckets)
		if i == 0 {
			return
		}
		for ; uint64(i-h.first) < uint64(len(h.chains)/4); i++ {
			entry := word(h.chains, i-h.first)
			if entry|1 == hash|1 && !yield(i) || entry&1 != 0 {
				return
			}
		}
	}
}

// mayHave asks the Bloom filter, which has two bits per name in one 64-bit word.
func (h *gnuHash) mayHave(hash uint32) bool {
	words := uint32(len(h.bloom) / 8)
	w := binary.LittleEndian.Uint64(h.bloom[8*uint64(hash/64%words):])
	return w>>(hash%64)&(w>>(hash>>h.shift%64))&1 != 0
}

func (h *sysvHash) candidates(name string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		nbucket, nchain := uint32(len(h.buckets)/4), uint32(len(h.chains)/4)
		if nbucket == 0 {
			return
		}
		i := word(h.buckets, sysvHashOf(name)%nbucket)
		for range nchain { // links may form a circle
			if i == 0 || i >= nchain || !yield(i) {
				return
			}
			i = word(h.chains, i)
		}
	}
}

// gnuHashOf is dl_new_hash of glibc, Bernstein's hash.
func gnuHashOf(name string) uint32 {
	h := uint32(5381)
	for _, c := range []byte(name) {
		h = h*33 + uint32(c)
	}
	return h
}

// sysvHashOf is the gABI's hash function.
func sysvHashOf(name string) uint32 {
	var h uint32
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		h ^= h >> 24 & 0xf0
		h &= 0x0fffffff
	}
	return h
}
