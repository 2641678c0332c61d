// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/shellwords"
)

var update = flag.Bool("update", false, "write what the tests expect anew")

const commandLines = "lines.txt"

// A typedLine is a command line that people type, and what it means.
type typedLine struct {
	text    string
	hydra   bool // Hydra reads it, too, and in the same way
	environ []string
	args    []string // without the name of the command
	want    string
}

// readCommandLines changes to the folder of the command lines. It returns the lines and the whole text.
func readCommandLines(t *testing.T) (lines []typedLine, text string) {
	t.Helper()
	t.Chdir("testdata/commandlines")
	content, err := os.ReadFile(commandLines)
	require.NoError(t, err)
	for row := range strings.Lines(string(content)) {
		switch row[:1] {
		case "$", "%":
			line := typedLine{text: row, hydra: row[0] == '$'}
			words, err := shellwords.Split(row[2:])
			require.NoError(t, err, row)
			at := slices.IndexFunc(words, func(word string) bool { return !strings.Contains(word, "=") })
			line.environ, line.args = words[:at], words[at+1:]
			lines = append(lines, line)
		case " ":
			lines[len(lines)-1].want += row
		}
	}
	return lines, string(content)
}

// plan reads the line as mpiexec does.
func (l typedLine) plan() (CommandLine, plan.Plan, error) {
	opts, err := Parse(l.args, inEnv(l.environ...))
	if err != nil {
		return opts, plan.Plan{}, err
	}
	s := plan.Site{Host: "here", Dir: "/start", Environ: l.environ}
	if err := s.FindHosts(opts.Hosts); err != nil {
		return opts, plan.Plan{}, err
	}
	made, err := plan.New(opts.Request, s)
	return opts, made, err
}

// describe writes what a line means.
func describe(opts CommandLine, made plan.Plan) string {
	var b strings.Builder
	ranks := map[int]int{}
	var on []string
	for _, host := range made.Hosts {
		count := 0
		for _, set := range host.Sets {
			ranks[set.Program] += len(set.Ranks)
			count += len(set.Ranks)
		}
		on = append(on, fmt.Sprintf("%s:%d", host.Name, count))
	}
	for i, segment := range opts.Segments {
		fmt.Fprintf(&b, "  %d", ranks[i])
		for _, setting := range segment.Env {
			fmt.Fprintf(&b, " %s", setting)
		}
		if segment.Wdir != "" {
			fmt.Fprintf(&b, " (%s)", segment.Wdir)
		}
		fmt.Fprintf(&b, " %s\n", quoted(segment.Args))
	}
	if len(on) != 1 || !strings.HasPrefix(on[0], "here:") {
		fmt.Fprintf(&b, "  on %s\n", strings.Join(on, " "))
	}
	if len(opts.Env) > 0 {
		fmt.Fprintf(&b, "  env %s\n", quoted(opts.Env))
	}
	settings := map[string]string{}
	standard, _ := Parse([]string{"a"}, noEnv)
	collect(settings, "", reflect.ValueOf(opts.Request), reflect.ValueOf(standard.Request))
	for i, segment := range opts.Segments {
		segment.Ranks, segment.Env, segment.Wdir, segment.Args = 0, nil, "", []string{"a"}
		collect(settings, fmt.Sprintf(".Segments[%d]", i), reflect.ValueOf(segment), reflect.ValueOf(standard.Segments[0]))
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "  %s = %s\n", name[1:], settings[name])
	}
	return b.String()
}

// collect finds the fields that differ from their default.
func collect(settings map[string]string, name string, is, standard reflect.Value) {
	switch {
	case reflect.DeepEqual(is.Interface(), standard.Interface()), name == ".Segments", name == ".Env":
	case is.Kind() == reflect.Struct && is.Type() != reflect.TypeFor[plan.Binding]():
		for i := range is.NumField() {
			collect(settings, name+"."+is.Type().Field(i).Name, is.Field(i), standard.Field(i))
		}
	default:
		settings[name] = fmt.Sprintf("%v", is.Interface())
	}
}

func quoted(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if word == "" || strings.ContainsAny(word, ` '"\`) {
			word = fmt.Sprintf("%q", word)
		}
		b.WriteString(word)
	}
	return b.String()
}

// What people type is read as the file says. TestCommandLinesAsHydra compares it with what Hydra makes of it.
func TestCommandLines(t *testing.T) {
	lines, text := readCommandLines(t)
	require.Greater(t, len(lines), 80)
	for _, line := range lines {
		opts, made, err := line.plan()
		if !assert.NoError(t, err, line.text) {
			continue
		}
		got := describe(opts, made)
		if *update {
			text = strings.Replace(text, line.text+line.want, line.text+got, 1)
		} else {
			assert.Equal(t, line.want, got, line.text)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(commandLines, []byte(text), 0o600))
	}
}
