// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said runs tpsl and returns what it writes.
func said(args ...string) (stdout, stderr string, code int) {
	var out, err strings.Builder
	code = run(args, streams{out: &out, err: &err})
	return out.String(), err.String(), code
}

// The help of tpsl and of each command fits a terminal of 80 columns.
func TestHelpFitsTerminal(t *testing.T) {
	helps := [][]string{{"-h"}}
	for _, c := range commands {
		helps = append(helps, []string{c.name, "-h"})
	}
	for _, args := range helps {
		stdout, stderr, code := said(args...)
		assert.Zero(t, code, args)
		assert.Empty(t, stderr, args)
		assert.True(t, strings.HasPrefix(stdout, "usage: tpsl "), stdout)
		for line := range strings.Lines(stdout) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%v: %s", args, line)
		}
	}
}

// Output that cannot be written is one line, whatever the command, and ends those that would go on.
func TestUnwrittenOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	unwritten := [][]string{{"-h"}, {"--version"}, {"check", "/bin/true"}, {"check", "-json", "/bin/true"}, {"doctor"}, {"doctor", "-json"}}
	for _, c := range commands {
		unwritten = append(unwritten, []string{c.name, "-h"})
	}
	for _, args := range unwritten {
		var stderr strings.Builder
		assert.Equal(t, exitUsage, run(args, streams{out: full, err: &stderr}), args)
		assert.Equal(t, "tpsl "+args[0]+": write standard output: no space left on device\n", stderr.String(), args)
	}
	failed := 0
	out := &output{to: full, failed: func() { failed++ }}
	for range 2 {
		n, err := out.Write([]byte("text"))
		assert.Equal(t, 4, n)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, failed)
}

// A command that is not there is one line, which names the one that was meant where that can be told.
func TestUnknownCommand(t *testing.T) {
	for word, want := range map[string]string{
		"docter": "tpsl: unknown command docter; did you mean doctor?\n",
		"tarce":  "tpsl: unknown command tarce; did you mean trace?\n",
		"status": "tpsl: unknown command status; try tpsl -h\n",
	} {
		stdout, stderr, code := said(word)
		assert.Equal(t, exitUsage, code)
		assert.Empty(t, stdout)
		assert.Equal(t, want, stderr)
	}
	_, stderr, code := said()
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "tpsl: no command given; try tpsl -h\n", stderr)
}

// The doctor's verdict is in colour at a terminal, unless NO_COLOR is set.
func TestColour(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		noColor  string
		want     bool
	}{{true, "", true}, {true, "1", false}, {false, "", false}} {
		t.Setenv("NO_COLOR", c.noColor)
		var out, err strings.Builder
		run([]string{"doctor"}, streams{out: &out, err: &err, terminal: c.terminal})
		assert.Empty(t, err.String())
		assert.Equal(t, c.want, strings.HasPrefix(out.String(), "\x1b["), "%+v", c)
		assert.Equal(t, c.want, strings.Contains(out.String(), "\x1b"), "%+v", c)
	}
}
