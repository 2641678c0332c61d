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
			return pages.runs(m, start, end, run, each)
		})
	})
	if err != nil {
		return fmt.Errorf("process %d: read its pages: %w", process.PID, err)
	}
	return nil
}

// runs joins pages that are alike.
func (p *pageMap) runs(m *Mapping, start, end uint64, run Pages, each func(*Pages) error) error {
	var failed error
	flush := func() {
		if run.Start < run.End && failed == nil {
			failed = each(&run)
		}
	}
	err := p.populated(start, end, func(from, to uint64) {
		err := p.read(from, to, func(address, entry uint64) {
			state, exclusive := stateOf(m, entry), entry&entryExclusive != 0
			if address != run.End || state != run.State || exclusive != run.Exclusive {
				flush()
				run.Start, run.State, run.Exclusive = address, state, exclusive
			}
			run.End = address + pageSize
			if state == "" {
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
