// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"encoding/binary"
	"errors"
)

var errArrival = errors.New("malformed arrival at a barrier")

// Append appends the encoding of a to b: the count, then byte strings, each after its length, all numbers as uvarints.
func (a Arrival) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(a.Count))
	b = appendString(b, a.Barrier)
	for _, e := range a.Puts {
		b = appendString(appendString(appendString(b, e.Space), e.Key), e.Value)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// ParseArrival reads what Append wrote.
func ParseArrival(b []byte) (a Arrival, err error) {
	count, used := binary.Uvarint(b)
	if used <= 0 || count > 1<<31 {
		return Arrival{}, errArrival
	}
	a.Count = int(count)
	if a.Barrier, b, err = cutString(b[used:]); err != nil {
		return Arrival{}, err
	}
	for len(b) > 0 {
		var e Entry
		for _, field := range [...]*string{&e.Space, &e.Key, &e.Value} {
			if *field, b, err = cutString(b); err != nil {
				return Arrival{}, err
			}
		}
		a.Puts = append(a.Puts, e)
	}
	return a, nil
}

func cutString(b []byte) (s string, rest []byte, err error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return "", nil, errArrival
	}
	return string(b[used : used+int(n)]), b[used+int(n):], nil
}
