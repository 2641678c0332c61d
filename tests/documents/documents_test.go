// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// limit bounds what one block of commands may take. It is generous: other tests run on the same CPUs.
const limit = 80 * time.Second

func TestMain(m *testing.M) {
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

// read returns the text of a file, named from the repository's root.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testsupport.Root(t), name))
	require.NoError(t, err)
	return string(text)
}

// A block is a fenced block of a document.
type block struct {
	heading  string // the nearest one above
	mark     string // the HTML comment in the line above: "run", "quote FILE", or ""
	language string
	lines    []string
}

var commentLine = regexp.MustCompile(`^<!-- (.*) -->$`)

// blocks returns the fenced blocks of a document.
func blocks(text string) (all []block) {
	heading, before := "", ""
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && !inside:
			mark := ""
			if m := commentLine.FindStringSubmatch(before); m != nil {
				mark = m[1]
			}
			all, inside = append(all, block{heading, mark, fence, nil}), true
		case fenced:
			inside = false
		case inside:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		}
		before = line
	}
	return all
}

// session takes the lines of a console apart: commands stand behind "$ ", the rest is what they print.
func session(lines []string) (commands, output string) {
	for _, line := range lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands += command + "\n"
		} else {
			output += line + "\n"
		}
	}
	return commands, output
}

// pattern is a regular expression for what commands print, in which "..." stands for any text.
func pattern(output string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(output), `\.\.\.`, `(?s:.*)`) + "$"
}

// shell runs commands in a folder, with tpsl's commands in front of the PATH, and returns what they print on stdout.
func shell(t *testing.T, folder, commands string) (stdout, stderr string) {
	t.Helper()
	root := testsupport.Build(t)
	env := []string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "FOLDER=" + folder,
		"OMP_WAIT_POLICY=passive", // here may be fewer cores than threads, and those that wait are not to keep the others from running
	}
	commands = strings.ReplaceAll(commands, "/opt/tpsl", root) // where documents say that tpsl is installed
	const begin = `set -e
trap 'for job in $(jobs -p); do kill $job 2>/dev/null || :; done; wait' EXIT # no job in the background is left, also if a command fails
sleep() { until tpsl trace -for 10ms $! >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do command sleep 0.1; done } # until a rank calls MPI, or the job is over
`
	stdout, stderr, code := testsupport.Run(t, limit, env, "bash", "-c", begin+"cd \"$FOLDER\"\n"+commands)
	require.Zero(t, code, "%s\nstdout:\n%s\nstderr:\n%s", commands, stdout, stderr)
	return stdout, stderr
}

// The first program of the README prints what the README says, as thread ranks and as an ordinary MPI program.
func TestFirstProgram(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	testsupport.NothingLeft(t)
	text := read(t, "README.md")
	programs := slices.DeleteFunc(blocks(text), func(b block) bool { return b.language != "c" })
	require.Len(t, programs, 1)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ring.c"), []byte(strings.Join(programs[0].lines, "\n")+"\n"), 0o666))

	_, behind, found := strings.Cut(text, "    $ bin/tpslcc")
	require.True(t, found)
	said, _, _ := strings.Cut("    $ bin/tpslcc"+behind, "\n\n")
	commands, want := session(strings.Split(strings.ReplaceAll(strings.TrimPrefix(said, "    "), "\n    ", "\n"), "\n"))
	require.NotEmpty(t, want)

	inOrder := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	printed, stderr := shell(t, folder, strings.ReplaceAll(commands, "bin/", ""))
	assert.Equal(t, inOrder(want), inOrder(printed), stderr)
	printed, stderr = shell(t, folder, "mpicc.mpich ring.c -o flat\nmpiexec -n 4 ./flat")
	assert.Equal(t, inOrder(want), inOrder(printed), stderr)
}

// Every option in the README's table is one that mpiexec explains.
func TestOptionsOfTheREADME(t *testing.T) {
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	_, behind, found := strings.Cut(read(t, "README.md"), "| Option | Meaning |")
	require.True(t, found)
	table, _, _ := strings.Cut(behind, "\n\n")
	options := regexp.MustCompile("`(-[a-z-]+)").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(options), 7)
	for _, option := range options {
		stdout, stderr, code := testsupport.Run(t, limit, nil, mpiexec, option[1], "-h")
		assert.Zero(t, code, stderr)
		assert.Contains(t, stdout, option[1])
	}
}

func TestBlocks(t *testing.T) {
	assert.Equal(t, []block{{"One", "run", "console", []string{"$ a", "b", "# no heading"}}, {"Two", "", "c", nil}},
		blocks("## One\n\n<!-- run -->\n```console\n$ a\nb\n# no heading\n```\n## Two\n```c\n```\n"))
	commands, output := session([]string{"$ a &", "$ b", "c ... d", "e"})
	assert.Equal(t, "a &\nb\n", commands)
	assert.Regexp(t, pattern(output), "c 1\n2 d\ne\n")
	assert.NotRegexp(t, pattern(output), "c 1 d\ne\nf\n")
	assert.NotRegexp(t, pattern("a.b\n"), "acb\n")
}
