// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testsupport.Root(t), path))
	require.NoError(t, err)
	return string(content)
}

// found returns what the first group of a pattern matches in a text, sorted.
func found(pattern, text string) []string {
	all := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(text, -1) {
		all[match[1]] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// words returns the words that stand on lines of a page that begin with a macro.
func words(page, macro, word string) []string {
	return found(`(`+word+`)`, strings.Join(found(`^\.`+macro+` (.*)$`, page), "\n"))
}

func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(testsupport.Root(t) + "/share/man/man*/*")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func TestPagesAreWellFormed(t *testing.T) {
	testsupport.Require(t, "man", "groff", "mandoc")
	for _, page := range pages(t) {
		for _, check := range [][]string{
			{"mandoc", "-Tlint", "-Wwarning", page},
			{"groff", "-ww", "-mandoc", "-Tutf8", "-z", page},
			{"man", "--warnings", "-l", page},
		} {
			stdout, stderr, code := testsupport.Run(t, limit, []string{"LC_ALL=C.UTF-8", "MANPAGER=cat"}, check...)
			assert.Zero(t, code, check)
			assert.Empty(t, stderr, check)
			if check[0] == "mandoc" {
				assert.Empty(t, stdout)
			}
		}
	}
}

// A colon between programs keeps the space in front of it, which a bare one loses in mdoc.
func TestColonInExamples(t *testing.T) {
	testsupport.Require(t, "man", "mandoc")
	page := testsupport.Root(t) + "/share/man/man1/mpiexec.1"
	env := []string{"LC_ALL=C.UTF-8", "MANPAGER=cat", "MANWIDTH=80"}
	for _, show := range [][]string{{"mandoc", "-Tascii", page}, {"man", "-l", page}} {
		assert.Contains(t, run(t, env, show...), "mpiexec -n 1 ./master : -n 8 ./worker\n", show)
	}
}

// A page for each command, by its name, in an installed tree whose bin/ is in PATH.
func TestCommandsHavePages(t *testing.T) {
	testsupport.Require(t, "man")
	prefix := installed(t)
	env := []string{"LC_ALL=C.UTF-8", "MANPATH=", "PATH=" + prefix + "/bin:" + os.Getenv("PATH")}
	commands, err := os.ReadDir(prefix + "/bin")
	require.NoError(t, err)
	for _, command := range commands {
		page, err := filepath.EvalSymlinks(prefix + "/share/man/man1/" + command.Name() + ".1")
		assert.NoError(t, err)
		assert.Equal(t, page+"\n", run(t, env, "man", "-w", "1", command.Name()))
	}
	for _, section := range []string{"3", "7"} {
		assert.Equal(t, prefix+"/share/man/man"+section+"/tpsl."+section+"\n", run(t, env, "man", "-w", section, "tpsl"))
	}
}

// Options and their names in other words, as mpiexec -h all lists them.
func TestMpiexecPageHasEveryOption(t *testing.T) {
	help := run(t, nil, testsupport.Build(t)+"/bin/mpiexec", "-h", "all")
	listed := found(`(-[a-z][a-z_-]*)`, strings.Join(found(`^  (-.*?)(?:  |$)`, help), "\n"))
	require.Greater(t, len(listed), 15, help)
	inPage := words(readFile(t, "share/man/man1/mpiexec.1"), `It`, `Fl [a-z_-]+`)
	for i := range inPage {
		inPage[i] = strings.Replace(inPage[i], "Fl ", "-", 1)
	}
	assert.Equal(t, listed, inPage)
}

// Options of the wrappers, as -help lists them.
func TestWrappersPageHasEveryOption(t *testing.T) {
	var listed []string
	for _, wrapper := range []string{"tpslcc", "tpslcxx", "tpslfort"} {
		help := run(t, nil, testsupport.Build(t)+"/bin/"+wrapper, "-help")
		options := found(`^  -([a-z-]+=?)`, help)
		require.Greater(t, len(options), 4, help)
		listed = append(listed, options...)
	}
	slices.Sort(listed)
	page := readFile(t, "share/man/man1/tpslcc.1")
	inPage := words(page, `It`, `Fl [a-z-]+=?`)
	for i := range inPage {
		inPage[i] = strings.TrimPrefix(inPage[i], "Fl ")
	}
	assert.Equal(t, slices.Compact(listed), inPage)
}

// Commands and options, as tpsl -h and the -h of each command list them.
func TestTpslPageHasEveryOption(t *testing.T) {
	program := testsupport.Build(t) + "/bin/tpsl"
	commands := found(`^  ([a-z]+) `, run(t, nil, program, "-h"))
	require.Equal(t, []string{"check", "doctor", "mem", "names", "nic", "python", "report", "run", "top", "trace", "where"}, commands)
	listed := slices.Clone(commands)
	for _, command := range commands {
		listed = append(listed, found(`^  -([a-z]+) `, run(t, nil, program, command, "-h"))...)
	}
	require.Contains(t, listed, "json")
	page := readFile(t, "share/man/man1/tpsl.1")
	for _, word := range listed {
		assert.Regexp(t, `(?m)^\.(It|Op).*\b`+word+`\b`, page)
	}
}

func TestLibraryPagesHaveEveryFunction(t *testing.T) {
	for name, prefix := range map[string]string{"tpsl": "TPSL", "tpslmsg": "tpslmsg"} {
		function := prefix + `_\w+`
		declared := found(`^[a-z].*\b(`+function+`)\(`, readFile(t, "include/"+name+".h"))
		require.Greater(t, len(declared), 5)
		page := readFile(t, "share/man/man3/"+name+".3")
		assert.Equal(t, declared, words(page, `Nm`, function))
		assert.Equal(t, declared, words(page, `It Fn`, function))
		assert.Equal(t, declared, found(`^\.F[no] (`+function+`)`, page))
	}
}

// Every variable of docs/environment.md, but those of the tests, and no other.
func TestPagesHaveEveryVariable(t *testing.T) {
	users, _, ok := strings.Cut(readFile(t, "docs/environment.md"), "## What the tests read")
	require.True(t, ok)
	tabled := found("`([A-Z][A-Z0-9_]+)`", strings.Join(found(`^\|([^|]+)\|`, users), "\n"))
	require.Greater(t, len(tabled), 20)

	var all strings.Builder
	for _, page := range pages(t) {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		all.Write(content)
	}
	inPages := words(all.String(), `It Ev`, `[A-Z][A-Z0-9_]+`)
	assert.Subset(t, inPages, tabled)
	assert.Subset(t, found("`([A-Z][A-Z0-9_]+)`", users), inPages)
}
