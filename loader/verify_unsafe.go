// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/loader/plan"
)

// span is the memory of one private object.
type span struct {
	start, end uint64
	instance   *instance
	object     *mapped
}

// A Token tells whether a word that leads from one copy of a library into the data of another is a token. A library's
// messages carry tokens: addresses that a copy keeps for its peer and gives back, and that only the peer follows. before is the
// data of the copy that has the word, up to the word. to is the other's, from where the word leads to. Both may change meanwhile.
type Token func(before, to []byte) bool

// Verify proves that the instances are apart: no word of the writable memory of
// one instance's private objects is an address inside another's, unless it is a token.
// The memory may change while it is read. A nil isToken stands for libraries without tokens.
func Verify(isToken Token) error {
	process.verifying.RLock()
	defer process.verifying.RUnlock()
	spans := process.spans()
	for _, s := range spans {
		for _, l := range s.object.plan.Loads {
			if l.Flags&elf.PF_W == 0 {
				continue
			}
			from := l.Vaddr - s.object.plan.Span.Vaddr
			if err := scan(spans, s, from, s.object.mem[from:from+l.Memsz], isToken); err != nil {
				return err
			}
		}
	}
	return nil
}

// spans lists all private objects by address.
func (p *common) spans() []span {
	p.mu.Lock()
	defer p.mu.Unlock()
	var spans []span
	for _, i := range p.live {
		for _, m := range i.objects {
			if m != nil && m.plan.Placement == plan.Private {
				start := m.base + m.plan.Span.Vaddr
				spans = append(spans, span{start, start + m.plan.Span.Size, i, m})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	return spans
}

func scan(spans []span, own span, offset uint64, words []byte, isToken Token) error {
	low, high := spans[0].start, spans[len(spans)-1].end
	skip := -offset & 7
	for at := skip; at+8 <= uint64(len(words)); at += 8 {
		v := binary.LittleEndian.Uint64(words[at:])
		if v < low || v >= high || isPair(v) {
			continue
		}
		if to := lookup(spans, v); to != nil && to.instance != own.instance {
			if isToken != nil && to.object.plan.ID == own.object.plan.ID && isToken(words[:at], to.data(v)) {
				continue
			}
			return fmt.Errorf("instances are not apart: %s+%#x points into another instance's %s+%#x",
				own.object.plan.Name, offset+at, to.object.plan.Name, v-to.start)
		}
	}
	return nil
}

// isPair tells a word that is two fields of 32 bits, the lower a small number: libraries
// reuse the upper half of stale pointers so. As a pointer it would lead to the first page
// above a multiple of 4 GiB.
func isPair(v uint64) bool { return v&0xffffffff < pageSize }

// data returns the writable memory from an address in the object on to the end of its segment. Other segments have none.
func (s *span) data(address uint64) []byte {
	offset := address - s.start
	for _, l := range s.object.plan.Loads {
		from := l.Vaddr - s.object.plan.Span.Vaddr
		if l.Flags&elf.PF_W != 0 && offset >= from && offset < from+l.Memsz {
			return s.object.mem[offset : from+l.Memsz]
		}
	}
	return nil
}

func lookup(spans []span, address uint64) *span {
	i, found := slices.BinarySearchFunc(spans, address, func(s span, a uint64) int {
		switch {
		case s.end <= a:
			return -1
		case s.start > a:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &spans[i]
}
