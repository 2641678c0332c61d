// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestUnknown(t *testing.T) {
	for name, want := range map[string]bool{
		"TPSL_POLICY": false, "TPSL_CPUS": false, "TPSL_TEST_LARGE": false, "HOME": false, "XTPSL_A": false,
		"TPSL_POLCY": true, "TPSL_": true, "TPSL_POLICY_": true, "TPSL_TEST": true,
	} {
		assert.Equal(t, want, Unknown(name), name)
	}
}

// found returns what the first group of a pattern matches in a text, sorted and once each, but variables of tests.
func found(pattern, text string) []string {
	names := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(match[1], ofTests) {
			names[match[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// The list is that of the document for users.
func TestNamesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testsupport.Root(t), "docs", "environment.md"))
	require.NoError(t, err)
	assert.Equal(t, found(`\b(TPSL_[A-Z][A-Z_]+)\b`, string(text)), Names)
}

// The list has every variable whose name stands in the code, and no other. Code asks for a variable by a string, in Go
// and in C; a shell script would read it as $NAME.
func TestNamesAreRead(t *testing.T) {
	testsupport.Require(t, "git")
	root := testsupport.Root(t)
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard", "*.go", "*.c", "*.h").Output()
	require.NoError(t, err)
	var code strings.Builder
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "tests/") || strings.HasPrefix(name, "internal/environment/") || strings.HasPrefix(name, "internal/rules/") {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(root, name)) // it may be deleted and not committed
		code.Write(text)
	}
	assert.Equal(t, found(`"(TPSL_[A-Z][A-Z_]+)\b`, code.String()), Names)
}
