// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The commands of docs/shared-data.md print what the page says, and what the page quotes stands so in the example.
func TestSharedData(t *testing.T) {
	testsupport.NothingLeft(t)
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(testsupport.Root(t), "examples/apps/rtm"))))
	ran := 0
	for _, b := range blocks(read(t, "docs/shared-data.md")) {
		if file, quoted := strings.CutPrefix(b.mark, "quote "); quoted {
			assert.Contains(t, read(t, file), strings.Join(b.lines, "\n")+"\n")
			continue
		}
		require.Equal(t, "run", b.mark, "under %q", b.heading)
		ran++
		commands, output := session(b.lines)
		printed, stderr := shell(t, folder, commands)
		assert.Regexp(t, pattern(output), printed, "%s%s", commands, stderr)
	}
	assert.Equal(t, 1, ran)
}
