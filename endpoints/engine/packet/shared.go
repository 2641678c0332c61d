// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

// The shared pool is a stack of packets linked by number. Its word holds a turn beside
// the top packet, which every change counts up: a pop that was overtaken by another pop
// and a push of the same packet fails and tries again.

func top(word uint64) uint32 { return uint32(word) }

func (p *Pool) push(i uint32) {
	for {
		word := p.shared.Load()
		p.next[i].Store(top(word))
		if p.shared.CompareAndSwap(word, (word>>32+1)<<32|uint64(i)) {
			return
		}
	}
}

// pop takes a shared packet, or None with the word that said so.
func (p *Pool) pop() (i uint32, word uint64) {
	for {
		word = p.shared.Load()
		if i = top(word); i == None {
			return None, word
		}
		if p.shared.CompareAndSwap(word, (word>>32+1)<<32|uint64(p.next[i].Load())) {
			return i, word
		}
	}
}

// steal looks at each private pool once, starting at a random one, and takes the packet
// at the bottom of the first that has one. If none has, it returns how many packets
// were ever put there.
func (p *Pool) steal() (i uint32, puts uint64) {
	start := p.victim.Add(0x9e3779b9) >> 16 // golden ratio: spreads well
	for k := range uint32(len(p.private)) {
		i, here := p.of(int(start + k)).popBottom()
		if i != None {
			return i, 0
		}
		puts += uint64(here)
	}
	return None, puts
}
