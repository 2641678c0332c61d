// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Value is what one run of a benchmark measured.
type Value struct {
	Number float64
	Unit   string
}

// A Line is "key: value" in the header, or a key of a name.
type Line struct{ Key, Value string }

// A Set holds the values of each benchmark, by name without "Benchmark", then by turn. A
// benchmark that gave no value in a turn leaves a gap.
type Set struct {
	Header []Line
	Notes  []string
	Values map[string]map[int]Value
}

// Read reads a raw file.
func Read(r io.Reader) (*Set, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	turn := 0
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if note, ok := strings.CutPrefix(line, "# note: "); ok {
			s.Notes = append(s.Notes, note)
		} else if number, ok := strings.CutPrefix(line, "# turn "); ok {
			if err := s.Add(turn, lines.String()); err != nil {
				return nil, err
			}
			lines.Reset()
			if turn, err = strconv.Atoi(number); err != nil || turn < 1 {
				return nil, fmt.Errorf("%q: not the number of a turn", line)
			}
		} else if key, value, ok := setting(line); ok {
			s.Header = append(s.Header, Line{key, value})
		} else {
			fmt.Fprintln(&lines, line)
		}
	}
	return s, s.Add(turn, lines.String())
}

// Setting returns a value of the header, "" if there is none.
func (s *Set) Setting(key string) string {
	for _, line := range s.Header {
		if line.Key == key {
			return line.Value
		}
	}
	return ""
}

// setting takes "key: value" apart, also in a comment.
func setting(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	return key, value, ok && !strings.ContainsAny(key, " #") && !strings.HasPrefix(key, "SPDX-")
}

// Add takes the values of one turn from benchmark lines. Two values of one
// benchmark in a turn are an error, but turn 0 stands for a file without turns,
// where the second is of the second turn.
func (s *Set) Add(turn int, lines string) error {
	reader := benchfmt.NewReader(strings.NewReader(lines), "output")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return rec
		case *benchfmt.Result:
			v := rec.Values[0]
			value := Value{v.Value, v.Unit}
			if v.OrigUnit != "" { // the reader turns ns into sec
				value = Value{v.OrigValue, v.OrigUnit}
			}
			if err := s.add(turn, string(rec.Name), value); err != nil {
				return err
			}
		}
	}
	return reader.Err()
}

func (s *Set) add(turn int, name string, v Value) error {
	if s.Values == nil {
		s.Values = map[string]map[int]Value{}
	}
	if s.Values[name] == nil {
		s.Values[name] = map[int]Value{}
	}
	of := s.Values[name]
	if turn == 0 {
		turn = len(of) + 1
	}
	if _, twice := of[turn]; twice {
		return fmt.Errorf("%s: two values in turn %d", name, turn)
	}
	for _, other := range of {
		if other.Unit != v.Unit {
			return fmt.Errorf("%s: in %s, then in %s", name, other.Unit, v.Unit)
		}
		break
	}
	of[turn] = v
	return nil
}

// Names returns the benchmarks' names in order.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.Values)) }

// Unit returns the unit of a benchmark, "" for one without a value.
func (s *Set) Unit(name string) string {
	for _, v := range s.Values[name] {
		return v.Unit
	}
	return ""
}
