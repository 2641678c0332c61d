// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// An ExitRule makes mpiexec's exit code of those of the ranks. "" is ExitOr.
type ExitRule string

// The rules of -exit-code. A death by signal N counts N under ExitOr (with 128 added for a core), as in Hydra, and 128+N
// under the others, as in a shell.
const (
	ExitOr     ExitRule = "or"      // all codes or-ed
	ExitFirst  ExitRule = "first"   // the first that is not 0
	ExitMax    ExitRule = "max"     // the greatest
	ExitSignal ExitRule = "128+sig" // all codes or-ed
)

// ParseExitRule reads the value of -exit-code.
func ParseExitRule(s string) (ExitRule, error) {
	switch rule := ExitRule(strings.ToLower(s)); rule {
	case ExitOr, ExitFirst, ExitMax, ExitSignal:
		return rule, nil
	}
	return "", fmt.Errorf("%q is not one of or, first, max, 128+sig", s)
}

// A tally is the exit code so far.
type tally struct {
	rule ExitRule
	all  unix.WaitStatus // of every process, or-ed: a signal then hides codes
	code int
}

func (t *tally) add(status unix.WaitStatus) {
	t.all |= status
	switch {
	case t.rule == ExitMax:
		t.code = max(t.code, t.rule.codeOf(status))
	case t.rule != ExitFirst:
		t.code = t.rule.codeOf(t.all)
	case t.code == 0:
		t.code = t.rule.codeOf(status)
	}
}

// codeOf returns what one process counts.
func (r ExitRule) codeOf(status unix.WaitStatus) int {
	switch {
	case !status.Signaled():
		return status.ExitStatus()
	case r != ExitOr && r != "":
		return 128 + int(status.Signal())
	case status.CoreDump():
		return 0x80 | int(status.Signal()) // as in the wait status
	}
	return int(status.Signal())
}
