// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// Buckets behind the home buckets take what overflows. Those not in use are a stack
// in the array itself: a word of 32 bits of index and 32 that change with every
// operation, so that a word read before others took and returned the same bucket
// does not compare equal.

// overflow chains a fresh bucket to home and returns one of its entries, or nil.
func (t *Table) overflow(home *bucket) *entry {
	for {
		word := t.spare.Load()
		i := uint32(word)
		if i == 0 {
			return nil
		}
		b := &t.buckets[i]
		if t.spare.CompareAndSwap(word, (word>>32+1)<<32|uint64(b.link.Load())) {
			b.next, home.next = home.next, i
			return &b.entry[0]
		}
	}
}

// trim gives back the empty buckets that home overflows to.
func (t *Table) trim(home *bucket) {
	for b := home; b.next != 0; {
		i := b.next
		o := &t.buckets[i]
		if !o.empty() {
			b = o
			continue
		}
		b.next = o.next
		t.giveBack(i, o)
	}
}

func (t *Table) giveBack(i uint32, b *bucket) {
	for {
		word := t.spare.Load()
		b.link.Store(uint32(word))
		if t.spare.CompareAndSwap(word, (word>>32+1)<<32|uint64(i)) {
			return
		}
	}
}
