// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const checked = "docs/checked.md"

// files returns the names and contents of the repository's files that a pattern of git ls-files finds.
func files(t *testing.T, pattern string) map[string]string {
	t.Helper()
	testsupport.Require(t, "git")
	root := testsupport.Root(t)
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard", pattern).Output()
	require.NoError(t, err)
	found := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if text, err := os.ReadFile(filepath.Join(root, name)); err == nil { // it may be deleted and not committed
			found[name] = string(text)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// documents are those that people write; results are made by commands, and the changelog tells of what was.
func documents(t *testing.T) map[string]string {
	found := files(t, "*.md")
	for name := range found {
		if name == "CHANGELOG.md" || within(name, "docs/results") {
			delete(found, name)
		}
	}
	return found
}

// tests returns the names of all tests.
func tests(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, text := range files(t, "*_test.go") {
		for _, m := range testFunc.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	}
	return names
}

// Every test that a document names is there.
func TestDocsNameTests(t *testing.T) {
	exist, named := tests(t), 0
	for name, text := range documents(t) {
		for _, test := range testName.FindAllString(text, -1) {
			named++
			assert.True(t, exist[test], "%s: %s does not exist", name, test)
		}
	}
	assert.NotZero(t, named)
}

// sourceFile matches a source file that a document names by its path from the root.
var sourceFile = regexp.MustCompile("`([a-z]\\w*/[\\w./-]+\\.(?:go|c|h|S))`")

// Every source file that a document names is there, wherever files have moved.
func TestDocsNameSourceFiles(t *testing.T) {
	root, named := testsupport.Root(t), 0
	for name, text := range documents(t) {
		for _, m := range sourceFile.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, strings.Split(m[1], "/")[0])); err != nil {
				continue // a path of somebody else's
			}
			named++
			_, err := os.Stat(filepath.Join(root, m[1]))
			assert.NoError(t, err, "%s names %s", name, m[1])
		}
	}
	assert.NotZero(t, named)
}

// Every claim in the table of claims names something that shows it, and what it names is there.
func TestCheckedNamesWhatIsThere(t *testing.T) {
	root, exist := testsupport.Root(t), tests(t)
	text, err := os.ReadFile(filepath.Join(root, checked))
	require.NoError(t, err)
	rows := claims(string(text))
	require.Greater(t, len(rows), 50)
	for _, row := range rows {
		assert.True(t, shows(row[1]), "%s: nothing shows that %q", checked, row[0])
		for _, test := range testName.FindAllString(row[1], -1) {
			assert.True(t, exist[test], "%s: %s does not exist", checked, test)
		}
		for _, name := range paths(row[1]) {
			_, err := os.Stat(filepath.Join(root, name))
			assert.NoError(t, err, "%s: %q", checked, row[0])
		}
	}
}

var (
	asksForSize = regexp.MustCompile(`testsupport\.(Large|Times)\(`)
	readsSize   = regexp.MustCompile(`Getenv\("TPSL_TEST_LARGE`)
)

// docs/checked.md lists the tests that TPSL_TEST_LARGE=1 makes longer, and no others.
func TestLongRunsAreListed(t *testing.T) {
	text := files(t, checked)[checked]
	_, section, found := strings.Cut(text, "\n## Long runs\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	listed, long := map[string]bool{}, map[string]bool{}
	for _, row := range claims(section) {
		listed[strings.Trim(row[1], "`")] = true
	}
	for name, text := range files(t, "*_test.go") {
		assert.NotRegexp(t, readsSize, text, "%s: use testsupport.Large or Times", name)
		for function := range strings.SplitSeq(text, "\nfunc ") {
			if asksForSize.MatchString(function) {
				name, _, _ := strings.Cut(function, "(")
				long[name] = true
			}
		}
	}
	assert.Equal(t, long, listed)
}

func TestReadme(t *testing.T) {
	assert.Empty(t, checkReadme(files(t, "README.md")["README.md"]))
}

// Each document in docs names its one reader at its top; docs/README.md is the map for all of them.
func TestDocumentsNameTheirReader(t *testing.T) {
	for name, text := range documents(t) {
		if within(name, "docs") && name != "docs/README.md" {
			if complaint := checkReader(name, text); complaint != "" {
				t.Error(complaint)
			}
		}
	}
}

// The map of documents leads to each of them.
func TestMapLeadsToAllDocuments(t *testing.T) {
	all := documents(t)
	led := map[string]bool{}
	for _, target := range links(all["docs/README.md"]) {
		led[filepath.Join("docs", target)] = true
	}
	for name := range all {
		if within(name, "docs") && name != "docs/README.md" {
			assert.True(t, led[name], "docs/README.md does not lead to %s", name)
		}
	}
}

// Links between documents lead to files and headings that exist.
func TestLinks(t *testing.T) {
	root, all := testsupport.Root(t), documents(t)
	for name, text := range all {
		for _, target := range links(text) {
			if strings.Contains(target, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			path := name
			if file != "" {
				path = filepath.Join(filepath.Dir(name), file)
			}
			_, err := os.Stat(filepath.Join(root, path))
			assert.NoError(t, err, "%s: link to %s", name, target)
			if there, known := all[path]; known && anchor != "" {
				assert.True(t, anchors(there)[anchor], "%s: link to %s: %s has no such heading", name, target, path)
			}
		}
	}
}

func TestCheckReadme(t *testing.T) {
	good := "# tpsl\n\n    ./scripts/quickstart  # x\n    ./scripts/test  # y\n"
	assert.Empty(t, checkReadme(good))
	assert.Equal(t, []string{"README.md: lacks the command ./scripts/test"}, checkReadme(strings.Replace(good, "/test", "/tests", 1)))
	assert.Equal(t, []string{"README.md: has 6001 bytes, and may have 6000"}, checkReadme(good+strings.Repeat("x", readmeLimit+1-len(good))))
}

func TestCheckReader(t *testing.T) {
	for text, complains := range map[string]bool{
		"<!-- x -->\n\n# T\n\n*For users who wait.*\n\nText": false,
		"# T\n\n*For contributors who\nread on.*\n":          false,
		"# T\n\nText *For users who wait.*\n":                true,
		"# T\n\n*For everybody who waits.*\n":                true,
		"# T\n\n*For users* and *administrators.*\n":         true,
		"": true,
	} {
		assert.Equal(t, complains, checkReader("a.md", text) != "", text)
	}
}

func TestLinksAndAnchors(t *testing.T) {
	const text = "# One *copy*: `a_b`\n\n[a](x.md#one) `[b](y)` [c](#d)\n```\n# none\n[e](f)\n```\n## 2. What's next?\n"
	assert.Equal(t, []string{"x.md#one", "#d"}, links(text))
	assert.Equal(t, map[string]bool{"one-copy-a_b": true, "2-whats-next": true}, anchors(text))
}

func TestClaims(t *testing.T) {
	rows := claims("| Claim | Where |\n|---|---|\n| a | `TestA` |\n| b | by hand |\n\n| c | `TestC` |\n")
	assert.Equal(t, [][2]string{{"a", "`TestA`"}, {"b", "by hand"}}, rows)
	assert.True(t, shows(rows[0][1]))
	assert.False(t, shows(rows[1][1]))
	assert.Equal(t, []string{"scripts/test", "examples/engine", "tests/e2e", "tests/e2e/a_test.go"},
		paths("`./scripts/test`, `go test ./examples/engine/...`, `go test -run X ./tests/e2e`, `tests/e2e/a_test.go`, `TestA/scripts`"))
}
