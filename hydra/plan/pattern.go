// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// A Pattern is text with %r (rank), %g (process group), %p (proxy), %h (host), %t (seconds since the job began) and %%.
type Pattern string

// LabelPattern is the usual label of a line: its rank.
const LabelPattern Pattern = "[%r] "

// ParsePattern refuses a text that [Pattern.Expand] does not understand.
func ParsePattern(s string) (Pattern, error) {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		i++
		if i == len(s) || !strings.ContainsRune("rgpht%", rune(s[i])) {
			return "", fmt.Errorf("%q: use %%r (rank), %%g (group), %%p (proxy), %%h (host), %%t (seconds) or %%%% after a %%", s)
		}
	}
	return Pattern(s), nil
}

// An Origin is where output comes from. The parts of a pattern stand for its fields.
type Origin struct {
	Label   string // the label of a rank, or of a set in shared mode
	Group   int
	Proxy   int
	Host    string
	Seconds int
}

// Expand returns the text for an origin.
func (p Pattern) Expand(at Origin) string {
	return strings.NewReplacer(
		"%r", at.Label,
		"%g", strconv.Itoa(at.Group),
		"%p", strconv.Itoa(at.Proxy),
		"%h", at.Host,
		"%t", strconv.Itoa(at.Seconds),
		"%%", "%",
	).Replace(string(p))
}
