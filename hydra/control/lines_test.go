// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
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
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestEvents(t *testing.T) {
	text := "hello\nstart rank=2 pid=77\nfault rank=2 signal=11\n\nleave rank=2\nfault rank=2\nfault rank=9 signal=11\nexit rank=2 pid=77 status=139\n" +
		"initialized rank=3\nabort rank=2 code=7\nexit rank=3 pid=78 status=x\ninitialized rank=\nexit rank=3 pid=78 status=256"
	var got []Event
	for e := range Events(strings.NewReader(text), []int{2, 3}) {
		got = append(got, e)
	}
	assert.Equal(t, []Event{
		{Kind: Started, Rank: 2, PID: 77},
		{Kind: Faulted, Rank: 2, Signal: unix.SIGSEGV},
		{Kind: Leaving, Rank: 2},
		{Kind: Exited, Rank: 2, PID: 77, Status: 139},
		{Kind: Initialized, Rank: 3},
		{Kind: Aborting, Rank: 2, Code: 7},
		{Kind: Exited, Rank: 3, PID: 78, Status: 256},
	}, got)
	for range Events(strings.NewReader(text), []int{2}) {
		break // the reader may stop before the end
	}
}

// controlLine matches a C string that is a control line. No other C string of the product has this form.
var controlLine = regexp.MustCompile(`"([^"\n]*\brank=%[^"\n]*)"`)

// The C code writes each format somewhere, and writes no line of another format.
func TestFormatsAreThoseOfC(t *testing.T) {
	testsupport.Require(t, "git")
	root := testsupport.Root(t)
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard", "*.c", "*.h").Output()
	require.NoError(t, err)
	written := map[string][]string{} // files, by format
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "tests/") {
			continue // it was deleted and not committed, or it is a test's
		}
		for _, match := range controlLine.FindAllStringSubmatch(string(text), -1) {
			line, ended := strings.CutSuffix(match[1], `\n`)
			assert.True(t, ended, "%s: %q does not end the line", name, match[1])
			format := strings.ReplaceAll(line, "%s", "%d") // the witness has its rank as text
			written[format] = append(written[format], name)
		}
	}
	var read []string
	for _, format := range formats {
		read = append(read, format.text)
	}
	assert.ElementsMatch(t, read, slices.Collect(maps.Keys(written)), "C writes %v", written)
}

// Reading a line of each format gives the values from which it was made.
func TestFormatsAreRead(t *testing.T) {
	for kind, format := range formats {
		numbers := []any{5, 6, 7}[:strings.Count(format.text, "%d")]
		got, ok := parse(fmt.Sprintf(format.text, numbers...))
		require.True(t, ok, format.text)
		want := Event{Kind: Kind(kind)}
		for i, field := range format.fields(&want) {
			_, err := fmt.Sscan(fmt.Sprint(numbers[i]), field)
			require.NoError(t, err)
		}
		assert.Equal(t, want, got)
	}
}
