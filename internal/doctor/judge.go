// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // ranks do not start
	Warning Severity = "warning" // some jobs fail, or are slower than they could be
	Note    Severity = "note"    // good to know when something else fails
)

// Finding is one thing that would fail, and what to do.
type Finding struct {
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"` // the limit, file or variable; stable
	Value    string   `json:"value"`   // how it is
	Need     string   `json:"need"`    // how it should be, "" if Value says so
	Remedy   string   `json:"remedy"`  // what to do
}

// Judge returns the findings, errors first.
func Judge(f Facts) []Finding {
	findings := slices.Concat(
		judgeChosen(f), judgeArguments(f), judgePrivate(f), judgeInstallation(f),
		judgeRanks(f), judgeShm(f), judgeCrossMemory(f.Limits), judgeMachine(f), judgeLibc(f), judgeVariables(f.Environment), judgeIdentity(f.Environment),
	)
	slices.SortStableFunc(findings, func(a, b Finding) int { return order(a) - order(b) })
	return findings
}

func order(f Finding) int {
	return slices.Index([]Severity{Error, Warning, Note}, f.Severity)
}

// counted joins a number and a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// few joins the first words of a list.
func few(list []string) string {
	const most = 4
	text := ""
	for i, word := range list {
		switch {
		case i == most:
			return text + ", ..."
		case i > 0:
			text += ", "
		}
		text += word
	}
	return text
}
