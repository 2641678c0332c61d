// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// word returns what a reader is told for "mode=flat": the word in the table, or the
// value, with its key where it is a number.
func word(key string) string {
	if text, ok := words[key]; ok {
		return text
	}
	name, value, ok := strings.Cut(key, "=")
	switch {
	case !ok:
		return key
	case strings.Trim(value, "0123456789") == "":
		return value + " " + name
	}
	return value
}

// shorten makes labels of the lines' keys, without those that all lines share.
func shorten(panels []panel) {
	count := map[string]int{}
	lines := 0
	for _, p := range panels {
		for _, l := range p.lines {
			lines++
			for part := range strings.SplitSeq(l.key, "/") {
				count[part]++
			}
		}
	}
	for _, p := range panels {
		for i, l := range p.lines {
			var parts []string
			for part := range strings.SplitSeq(l.key, "/") {
				if part != "" && (count[part] < lines || lines == 1) {
					parts = append(parts, word(part))
				}
			}
			p.lines[i].label = strings.Join(parts, ", ")
		}
	}
}

// order is that of panels and lines with these keys.
var order = []string{"between=threads", "between=processes", "between=hosts", "between=guests", "mode=flat", "mode=flat-yields", "mode=tags", "mode=comms",
	"mode=threaded", "mode=tpsl", "mode=private", "mode=engine", "grid=cube", "grid=x", "grid=y", "grid=z"}

// compareKeys orders "mode=flat/by=x" part by part, as order says, then by value.
func compareKeys(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		keyA, valueA, _ := strings.Cut(a, "=")
		keyB, valueB, _ := strings.Cut(b, "=")
		return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)),
			strings.Compare(keyA, keyB), results.CompareValues(valueA, valueB))
	})
}
