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
	Job    int // of a rank: as in Rank
}

var kinds = [...]string{"process", "rank", "copy", "once"}

func (o Owner) String() string {
	switch o.Kind {
	case OfRank:
		return "rank " + RankName(o.Number, o.Job)
	case Copy:
		return fmt.Sprintf("copy %d", o.Number)
	}
	return kinds[o.Kind]
}

const ofJob = " of job "

// RankName writes a rank of a job, numbered as in Rank.
func RankName(rank, job int) string {
	if job == 0 {
		return strconv.Itoa(rank)
	}
	return strconv.Itoa(rank) + ofJob + strconv.Itoa(job)
}

// MarshalText gives the owner's name to JSON.
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Owner) UnmarshalText(text []byte) error {
	word, rest, _ := strings.Cut(string(text), " ")
	number, job, _ := strings.Cut(rest, ofJob)
	kind := slices.Index(kinds[:], word)
	*o = Owner{Kind: Kind(kind)}
	if o.Kind == OfRank || o.Kind == Copy {
		o.Number, _ = strconv.Atoi(number)
		o.Job, _ = strconv.Atoi(job)
	}
	if kind < 0 || o.String() != string(text) {
		return fmt.Errorf("%w owner: %.40q", errMalformed, text)
	}
	return nil
}
