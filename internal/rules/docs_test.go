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

var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
)

// Every test that the README and the documents on the launcher, RDMA and endpoints name is there.
func TestDocsNameTests(t *testing.T) {
	testsupport.Require(t, "git")
	root := testsupport.Root(t)
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard", "*_test.go").Output()
	require.NoError(t, err)
	exist := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, _ := os.ReadFile(filepath.Join(root, name)) // it may be deleted and not committed
		for _, match := range testFunc.FindAllStringSubmatch(string(text), -1) {
			exist[match[1]] = true
		}
	}
	docs := []string{filepath.Join(root, "README.md"), filepath.Join(root, "docs", "launcher.md"), filepath.Join(root, "docs", "rdma.md"), filepath.Join(root, "docs", "endpoints.md")}
	essays, err := filepath.Glob(filepath.Join(root, "docs", "endpoints", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, essays)
	named := 0
	for _, doc := range append(docs, essays...) {
		text, err := os.ReadFile(doc)
		require.NoError(t, err)
		for _, name := range testName.FindAllString(string(text), -1) {
			named++
			assert.True(t, exist[name], "%s: %s does not exist", doc, name)
		}
	}
	assert.NotZero(t, named)
}
