// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
)

// An ExitRule says how mpiexec's exit code is made from the exit codes of the ranks. "" is ExitOr.
type ExitRule string

// The rules. A death by signal N counts N under ExitOr (with 128 added for a core), as in Hydra, and 128+N
// under the others, as in a shell.
const (
	ExitOr     ExitRule = "or"      // the bitwise or of all codes
	ExitFirst  ExitRule = "first"   // the first code that is not 0
	ExitMax    ExitRule = "max"     // the greatest code
	ExitSignal ExitRule = "128+sig" // the bitwise or of all codes
)

// ParseExitRule reads the name of a rule.
func ParseExitRule(s string) (ExitRule, error) {
	switch rule := ExitRule(strings.ToLower(s)); rule {
	case ExitOr, ExitFirst, ExitMax, ExitSignal:
		return rule, nil
	}
	return "", fmt.Errorf("%q is not one of or, first, max, 128+sig", s)
}

// A Banner is the form in which mpiexec reports a crash. "" is BannerLine.
type Banner string

// The forms.
const (
	BannerLine  Banner = "line"  // one line, and a second one with what to do
	BannerHydra Banner = "hydra" // the eleven lines of Hydra, for scripts that search for them
)

// ParseBanner reads the name of a form.
func ParseBanner(s string) (Banner, error) {
	switch form := Banner(strings.ToLower(s)); form {
	case BannerLine, BannerHydra:
		return form, nil
	}
	return "", fmt.Errorf("%q is not one of line, hydra", s)
}
