// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"fmt"
	"os"
)

// Pages are pages that follow one another and are alike.
type Pages struct {
	Start, End      uint64
	Owner           Owner
	Object, Segment string
	State           string // file, copied, anonymous, shared memory, swapped
	Exclusive       bool   // mapped once
	Times           uint64 // how often each is mapped, by all processes; 0: not known, for want of CAP_SYS_ADMIN
	Huge, Merged    bool   // part of a huge page, merged by KSM; known with Times
}

// alike tells whether pages of one place can be told in one line.
func (p *Pages) alike(other *Pages) bool {
	return p.State == other.State && p.Exclusive == other.Exclusive && p.Times == other.Times && p.Huge == other.Huge && p.Merged == other.Merged
}

// EachPages passes all pages of a process that was read and that are resident or swapped.
func (p Proc) EachPages(process *Process, each func(*Pages) error) error {
	pages, err := openPageMap(p.path(process.PID, "pagemap"))
	if err != nil {
		return p.explain(process.PID, err)
	}
	defer pages.close()
	f, err := os.Open(p.path(process.PID, "smaps"))
	if err != nil {
		return p.explain(process.PID, err)
	}
	defer f.Close()
	known := p.frames()
	defer known.close()
	walk := spanWalk{spans: process.spans}
	err = ReadMappings(f, func(m *Mapping) error {
		if m.Resident+m.Swapped == 0 { // as [vsyscall], which has no page map
			return nil
		}
		return walk.over(m, func(start, end uint64, s *span) error {
			run := Pages{Owner: process.rest, Object: objectOf(m), Segment: segmentOf(m)}
			if s != nil {
				run.Owner, run.Object, run.Segment = s.owner, s.object, s.segment(m)
			}
			return pages.runs(m, start, end, known, run, each)
		})
	})
	if err != nil {
		return fmt.Errorf("process %d: read its pages: %w", process.PID, err)
	}
	return nil
}

// runs joins pages that are alike. Start and End of run are set here.
func (p *pageMap) runs(m *Mapping, start, end uint64, known frames, run Pages, each func(*Pages) error) error {
	var failed error
	flush := func() {
		if run.Start < run.End && failed == nil {
			failed = each(&run)
		}
	}
	err := p.populated(start, end, func(from, to uint64) {
		err := p.read(from, to, func(address, entry uint64) {
			page := run
			page.set(m, entry, known)
			if address != run.End || !page.alike(&run) {
				flush()
				run = page
				run.Start = address
			}
			run.End = address + pageSize
			if page.State == "" { // zeros, or it has gone meanwhile
				run.Start = run.End
			}
		})
		if failed == nil {
			failed = err
		}
	})
	flush()
	if failed == nil {
		failed = err
	}
	return failed
}

func (p *Pages) set(m *Mapping, entry uint64, known frames) {
	p.State, p.Exclusive = stateOf(m, entry), entry&entryExclusive != 0
	p.Times, p.Huge, p.Merged = 0, false, false
	if known.areZeros(entry) {
		p.State = ""
		return
	}
	if entry&entryPresent != 0 {
		times, flags := known.of(entry & entryFrame)
		p.Times, p.Huge, p.Merged = times, flags&(flagHuge|flagHugePage) != 0, flags&flagMerged != 0
	}
}

func stateOf(m *Mapping, entry uint64) string {
	switch {
	case entry&entrySwapped != 0:
		return "swapped"
	case entry&entryPresent == 0:
		return ""
	case entry&entryFile == 0 && m.OfFile():
		return "copied"
	case entry&entryFile == 0:
		return "anonymous"
	case m.Perm[3] == 's':
		return "shared memory"
	default:
		return "file"
	}
}
