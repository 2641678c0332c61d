// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"fmt"
	"os"
	"slices"
)

// Proof says what the instances of a process's libraries have in the same page frames.
type Proof struct {
	PID     int            `json:"pid"`
	Objects []*ProofObject `json:"objects"`
}

// ProofObject counts pages of a file that is private to several instances. Those of text
// count once each, where two instances have them resident or more; those that an instance
// has written to, in each instance.
type ProofObject struct {
	Object    string `json:"object"`
	Instances int    `json:"instances"`
	Text      int    `json:"text_pages"`
	TextApart int    `json:"text_pages_in_other_frames"` // not the same in all instances
	Data      int    `json:"data_pages"`
	DataSame  int    `json:"data_pages_in_one_frame"` // of two instances
}

// Holds tells whether all instances have the same frames of text, and none has written to
// one that another has, too.
func (p *Proof) Holds() bool {
	return !slices.ContainsFunc(p.Objects, func(o *ProofObject) bool { return o.TextApart+o.DataSame > 0 })
}

// proofs is how often frames are compared where that proves nothing.
const proofs = 5

// Prove compares the page frames of the instances of a process that was read. It takes
// CAP_SYS_ADMIN in the first user namespace.
func (p Proc) Prove(process *Process) (*Proof, error) {
	return untilHolds(func() (*Proof, error) { return p.compareFrames(process) })
}

// untilHolds repeats a proof that does not hold: the kernel may move a page meanwhile, which
// is then seen in two frames, or another one in the frame that it has left. What is not
// shared, or is not apart, stays so.
func untilHolds(prove func() (*Proof, error)) (proof *Proof, err error) {
	for range proofs {
		if proof, err = prove(); err != nil || proof.Holds() {
			break
		}
	}
	return proof, err
}

// compareFrames looks at each page once.
func (p Proc) compareFrames(process *Process) (*Proof, error) {
	pages, err := openPageMap(p.path(process.PID, "pagemap"))
	if err != nil {
		return nil, p.explain(process.PID, err)
	}
	defer pages.close()
	known := p.frames()
	defer known.close()
	t := &trial{pages: pages, frames: known, proof: &Proof{PID: process.PID}, known: map[string]*evidence{}, written: frameSet{}}
	f, err := os.Open(p.path(process.PID, "smaps"))
	if err != nil {
		return nil, p.explain(process.PID, err)
	}
	defer f.Close()
	walk := spanWalk{spans: process.spans}
	err = ReadMappings(f, func(m *Mapping) error {
		if m.Resident == 0 {
			return nil
		}
		return walk.over(m, func(start, end uint64, s *span) error {
			if s == nil || s.owner.Kind != OfRank || s.object == stack || s.object == heap || s.object == threadLocals {
				return nil
			}
			return t.hear(m, start, end, s)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("process %d: compare frames: %w", process.PID, err)
	}
	return t.verdict(), nil
}

// A trial hears every mapping of every instance, in the order of addresses.
type trial struct {
	pages   *pageMap
	frames  frames
	proof   *Proof
	known   map[string]*evidence // by object
	written frameSet             // frames of pages that some instance has to itself
}

// evidence is what is known of an object's pages.
type evidence struct {
	*ProofObject
	instances map[Owner]bool
	text      map[textPlace]*textPage
}

// textPlace is where a page of text comes from: the object's file, or a copy of a part of it.
type textPlace struct {
	device        string
	inode, offset uint64
}

type textPage struct {
	frame   uint64
	several bool // seen in two instances
	apart   bool
}

func (t *trial) hear(m *Mapping, start, end uint64, s *span) error {
	e := t.known[s.object]
	if e == nil {
		e = &evidence{&ProofObject{Object: s.object}, map[Owner]bool{}, map[textPlace]*textPage{}}
		t.known[s.object] = e
		t.proof.Objects = append(t.proof.Objects, e.ProofObject)
	}
	e.instances[s.owner] = true
	hidden := false
	err := t.pages.populated(start, end, func(from, to uint64) {
		_ = t.pages.read(from, to, func(address, entry uint64) {
			frame := entry & entryFrame
			switch {
			case entry&entryPresent == 0:
			case frame == 0:
				hidden = true
			case t.frames.areZeros(entry):
			case entry&entryFile == 0:
				e.Data++
				if t.written.add(frame) {
					e.DataSame++
				}
			case m.Perm == "r-xp":
				e.compare(textPlace{m.Device, m.Inode, m.Offset + address - m.Start}, frame)
			}
		})
	})
	if hidden {
		return fmt.Errorf("%w: that takes CAP_SYS_ADMIN", ErrNoFrames)
	}
	return err
}

func (e *evidence) compare(place textPlace, frame uint64) {
	page := e.text[place]
	if page == nil {
		e.text[place] = &textPage{frame: frame}
		return
	}
	page.several = true
	page.apart = page.apart || page.frame != frame
}

// verdict counts, of objects that several instances have.
func (t *trial) verdict() *Proof {
	for _, e := range t.known {
		e.Instances = len(e.instances)
		for _, page := range e.text {
			if page.several {
				e.Text++
			}
			if page.apart {
				e.TextApart++
			}
		}
	}
	t.proof.Objects = slices.DeleteFunc(t.proof.Objects, func(o *ProofObject) bool { return o.Instances < 2 })
	return t.proof
}

// A frameSet holds page frames, in a bit of memory each.
type frameSet map[uint64]*[frameBits / 64]uint64

const frameBits = 1 << 15

// add returns whether the frame was there before.
func (s frameSet) add(frame uint64) (known bool) {
	bits := s[frame/frameBits]
	if bits == nil {
		bits = new([frameBits / 64]uint64)
		s[frame/frameBits] = bits
	}
	word, bit := &bits[frame%frameBits/64], uint64(1)<<(frame%64)
	known = *word&bit != 0
	*word |= bit
	return known
}
