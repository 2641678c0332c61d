// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind says what an owner is.
type Kind int

// Kinds of owners.
const (
	OfProcess Kind = iota // what the ranks share, and what is known to be nobody's alone
	OfRank
	Copy // an instance that the program opened itself; counted from 1
	Once // libraries of which one copy serves all instances
)

// Owner is who pages are there for. The zero value is the process.
type Owner struct {
	Kind   Kind
	Number int // of a rank in the world, or of a copy
}

var kinds = [...]string{"process", "rank", "copy", "once"}

func (o Owner) String() string {
	if o.Kind == OfRank || o.Kind == Copy {
		return fmt.Sprintf("%s %d", kinds[o.Kind], o.Number)
	}
	return kinds[o.Kind]
}

// MarshalText gives the owner's name to JSON.
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Owner) UnmarshalText(text []byte) error {
	word, number, _ := strings.Cut(string(text), " ")
	kind := slices.Index(kinds[:], word)
	*o = Owner{Kind: Kind(kind)}
	if o.Kind == OfRank || o.Kind == Copy {
		o.Number, _ = strconv.Atoi(number)
	}
	if kind < 0 || o.String() != string(text) {
		return fmt.Errorf("%w owner: %.40q", errMalformed, text)
	}
	return nil
}
