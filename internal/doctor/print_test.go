// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// printed returns the text of a report.
func printed(f Facts, colour bool) string {
	var text strings.Builder
	NewReport(f).Print(&text, colour)
	return text.String()
}

// The first line says whether ranks would start, and in colour the more serious it is the more it stands out.
func TestVerdict(t *testing.T) {
	warn := func(f *Facts) { f.Installation.Mpiexec = "" }
	for _, c := range []struct {
		name    string
		change  func(f *Facts)
		colour  string
		verdict string
	}{
		{"nothing", func(*Facts) {}, green, "tpsl 1.2.3: ready: ranks can share a process on this machine"},
		{"a note", func(f *Facts) { f.Limits.Core = 0 }, green, "tpsl 1.2.3: ready: ranks can share a process on this machine"},
		{"a warning", warn, yellow, "tpsl 1.2.3: ready, with 1 warning: some jobs would fail or run slower"},
		{"warnings", func(f *Facts) { warn(f); f.Environment = []string{"TPSL_X=1"} }, yellow,
			"tpsl 1.2.3: ready, with 2 warnings: some jobs would fail or run slower"},
		{"an error", func(f *Facts) { warn(f); f.Installation.LibtpslLacks = 1 }, red, "tpsl 1.2.3: not ready, because of 1 error: ranks would not start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := healthy()
			c.change(&f)
			first, _, _ := strings.Cut(printed(f, false), "\n")
			assert.Equal(t, c.verdict, first)
			assert.LessOrEqual(t, len(first), 80)
			first, _, _ = strings.Cut(printed(f, true), "\n")
			assert.Equal(t, c.colour+c.verdict+plain, first)
		})
	}
}

// Problems stand behind the verdict and in front of everything else. Without any there is no such part.
func TestProblemsComeFirst(t *testing.T) {
	f := healthy()
	f.Limits.Core, f.Installation.Mpiexec, f.Installation.LibtpslLacks = 0, "", 1
	text := printed(f, false)
	lines := strings.Split(text, "\n")
	assert.Equal(t, []string{"", "What would fail, and what to do"}, lines[1:3])
	for i, severity := range []string{"  error    ", "  warning  ", "  note     "} {
		assert.True(t, strings.HasPrefix(lines[3+i], severity), lines[3+i])
	}
	assert.Equal(t, []string{"", "System"}, lines[6:8])
	assert.NotContains(t, text, "\x1b")

	lines = strings.Split(printed(f, true), "\n")
	for i, severity := range []string{"  " + red + "error   " + plain + " ", "  " + yellow + "warning " + plain + " ", "  note     "} {
		assert.True(t, strings.HasPrefix(lines[3+i], severity), "%q", lines[3+i])
	}
	assert.Equal(t, 3, strings.Count(strings.Join(lines, ""), plain), "the verdict and two severities have a colour")

	assert.True(t, strings.HasPrefix(printed(healthy(), false), "tpsl 1.2.3: ready: ranks can share a process on this machine\n\nSystem\n"))
}

// The command colours what it says where it is told to.
func TestCommandColours(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var out, errOut strings.Builder
		Command("1.2.3", nil, Output{Stdout: &out, Stderr: &errOut, Colour: colour})
		assert.Empty(t, errOut.String())
		assert.Equal(t, colour, strings.HasPrefix(out.String(), "\x1b[1;3"))
	}
}
