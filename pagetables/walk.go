// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

// A spanWalk goes through spans beside mappings, both in the order of addresses.
type spanWalk struct {
	spans []span
	next  int // the first that is not behind the mapping
}

// over calls each with the parts of a mapping; s is nil for what is in no span. A library's
// first mapping is of its file, and names the span.
func (w *spanWalk) over(m *Mapping, each func(start, end uint64, s *span) error) error {
	for w.next < len(w.spans) && w.spans[w.next].end <= m.Start {
		w.next++
	}
	at := m.Start
	for i := w.next; i < len(w.spans) && w.spans[i].start < m.End; i++ {
		s := &w.spans[i]
		if s.object == "" && m.OfFile() {
			s.object = m.Name
		}
		start, end := max(s.start, m.Start), min(s.end, m.End)
		if at < start {
			if err := each(at, start, nil); err != nil {
				return err
			}
		}
		if err := each(start, end, s); err != nil {
			return err
		}
		at = end
	}
	if at < m.End {
		return each(at, m.End, nil)
	}
	return nil
}
