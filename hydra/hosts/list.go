// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// ParseList reads hosts with commas between them. Each may have ranges and slots: a:2,n[01-03,7]:4,r[1-2]c[0-3].
func ParseList(text string) ([]Host, error) {
	list, err := parseItems(text)
	if err != nil {
		return nil, err
	}
	return merge(list), nil
}

const expected = "expected NAME[:SLOTS] or ranges, as in n[01-03,7]:4"

// parseItems reads a list without merging repeated hosts.
func parseItems(text string) ([]Host, error) {
	items, err := splitItems(text)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, expected)
	}
	var list []Host
	for _, item := range items {
		expanded, err := parseItem(item)
		if err != nil {
			return nil, fmt.Errorf("%q: %w; %s", shorten(item), err, expected)
		}
		if len(list)+len(expanded) > MaxHosts {
			return nil, fmt.Errorf("%q: more than %d hosts", shorten(item), MaxHosts)
		}
		list = append(list, expanded...)
	}
	return list, nil
}

// splitItems cuts a list at the commas that are not inside brackets.
func splitItems(text string) ([]string, error) {
	var items []string
	start, inside := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' && inside:
			return nil, fmt.Errorf("%q: [ inside [", shorten(text))
		case c == ']' && !inside:
			return nil, fmt.Errorf("%q: ] without [", shorten(text))
		case c == '[', c == ']':
			inside = c == '['
		case c == ',' && !inside:
			items = append(items, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if inside {
		return nil, fmt.Errorf("%q: [ without ]", shorten(text))
	}
	return append(items, strings.TrimSpace(text[start:])), nil
}

// parseItem reads one NAME[:SLOTS] and expands its ranges.
func parseItem(item string) ([]Host, error) {
	pattern, slots := item, 1
	if _, err := netip.ParseAddr(item); err != nil {
		if colon := strings.LastIndexByte(item, ':'); colon > strings.LastIndexByte(item, ']') {
			if slots, err = parseSlots(item[colon+1:]); err != nil {
				return nil, err
			}
			pattern = item[:colon]
		}
	}
	names, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	list := make([]Host, len(names))
	for i, name := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
		list[i] = Host{Name: name, Slots: slots}
	}
	return list, nil
}

// expand returns the names that a pattern with ranges stands for. The last range varies fastest. An IPv6 address may be in
// brackets.
func expand(pattern string) ([]string, error) {
	if inner := strings.Trim(pattern, "[]"); "["+inner+"]" == pattern {
		if addr, err := netip.ParseAddr(inner); err == nil && addr.Is6() {
			return []string{inner}, nil
		}
	}
	names := []string{""}
	for {
		literal, rest, found := strings.Cut(pattern, "[")
		if len(names[0])+len(literal) > maxName {
			return nil, errLongName
		}
		for i := range names {
			names[i] += literal
		}
		if !found {
			return names, nil
		}
		var ranges string
		ranges, pattern, _ = strings.Cut(rest, "]")
		numbers, err := parseRanges(ranges, MaxHosts/len(names))
		if err != nil {
			return nil, err
		}
		next := make([]string, 0, len(names)*len(numbers))
		for _, name := range names {
			for _, number := range numbers {
				next = append(next, name+number)
			}
		}
		names = next
	}
}

// parseRanges reads ranges such as 01-03,7. There are at most most numbers. Each number has as many digits as the first one of
// its range.
func parseRanges(text string, most int) ([]string, error) {
	var numbers []string
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := ranges.Parse(part)
		digits := len(strings.SplitN(part, "-", 2)[0])
		if !ok || digits > maxName {
			return nil, fmt.Errorf("%q is not a range of numbers", shorten(part))
		}
		if last-first >= most-len(numbers) {
			return nil, fmt.Errorf("[%s] is more than %d hosts", shorten(text), MaxHosts)
		}
		numbers = slices.Grow(numbers, last-first+1)
		for n := first; n <= last; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", digits, n))
		}
	}
	return numbers, nil
}

// FormatList writes names as ParseList reads them, with ranges where names differ in their last number only: n[01-03,07].
func FormatList(names []string) string {
	var items []string
	for _, group := range byStem(names) {
		items = append(items, group.format())
	}
	return strings.Join(items, ",")
}

// A stem is the names that differ in their last number only.
type stem struct {
	text    string // before the number
	digits  int    // 0 if the name does not end in a number
	numbers []int
}

// byStem puts names together that can share brackets, in the order in which they come first. Numbers that are padded with
// zeros share them only with those of as many digits.
func byStem(names []string) (stems []stem) {
	for _, name := range names {
		text := strings.TrimRight(name, "0123456789")
		number, err := strconv.Atoi(name[len(text):])
		if _, isAddress := netip.ParseAddr(name); err != nil || isAddress == nil {
			stems = append(stems, stem{text: name})
			continue
		}
		digits := 1
		if name[len(text)] == '0' {
			digits = len(name) - len(text)
		}
		i := slices.IndexFunc(stems, func(s stem) bool { return s.text == text && s.takes(number, digits) })
		if i < 0 {
			i = len(stems)
			stems = append(stems, stem{text: text, digits: digits})
		}
		stems[i].numbers = append(stems[i].numbers, number)
	}
	return stems
}

// takes reports whether a number is written alike with the digits of the stem: 10 in n[08-10], but 100 not.
func (s stem) takes(number, digits int) bool {
	return s.digits > 0 && (s.digits == digits || digits == 1 && len(strconv.Itoa(number)) == s.digits)
}

// format writes the names of a stem.
func (s stem) format() string {
	if s.digits == 0 {
		return s.text
	}
	numbers := slices.Sorted(slices.Values(s.numbers))
	var parts []string
	for i := 0; i < len(numbers); {
		end := i + 1
		for end < len(numbers) && numbers[end] <= numbers[end-1]+1 {
			end++
		}
		part := fmt.Sprintf("%0*d", s.digits, numbers[i])
		if numbers[end-1] > numbers[i] {
			part += fmt.Sprintf("-%0*d", s.digits, numbers[end-1])
		}
		parts, i = append(parts, part), end
	}
	if len(numbers) == 1 {
		return s.text + parts[0]
	}
	return s.text + "[" + strings.Join(parts, ",") + "]"
}

// shorten keeps messages on one line.
func shorten(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
