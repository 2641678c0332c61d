// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Name is a benchmark's, in parts: Latency/mode=flat/size=8.
type Name struct {
	Kind string
	Keys []Line
}

// ParseName takes a name apart. A part without "=" is a key without a value.
func ParseName(name string) Name {
	kind, rest, _ := strings.Cut(name, "/")
	n := Name{Kind: kind}
	for part := range strings.SplitSeq(rest, "/") {
		if part != "" {
			key, value, _ := strings.Cut(part, "=")
			n.Keys = append(n.Keys, Line{key, value})
		}
	}
	return n
}

func (n Name) String() string {
	text := n.Kind
	for _, k := range n.Keys {
		text += "/" + k.Key
		if k.Value != "" {
			text += "=" + k.Value
		}
	}
	return text
}

// Get returns the value of a key, "" where there is none.
func (n Name) Get(key string) string {
	for _, k := range n.Keys {
		if k.Key == key {
			return k.Value
		}
	}
	return ""
}

// Number returns the value of a key as a number.
func (n Name) Number(key string) (float64, bool) {
	number, err := strconv.ParseFloat(n.Get(key), 64)
	return number, err == nil
}

// With returns the name with another value of a key that it has.
func (n Name) With(key, value string) Name {
	keys := slices.Clone(n.Keys)
	for i := range keys {
		if keys[i].Key == key {
			keys[i].Value = value
		}
	}
	return Name{n.Kind, keys}
}

// Compare orders names by kind and keys; values that are numbers, as numbers.
func (n Name) Compare(m Name) int {
	return cmp.Or(strings.Compare(n.Kind, m.Kind), slices.CompareFunc(n.Keys, m.Keys, func(a, b Line) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), CompareValues(a.Value, b.Value))
	}))
}

// CompareValues orders numbers before other texts, and by size.
func CompareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
