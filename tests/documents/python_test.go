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

// The commands of the page about Python print what it says, with Debian's interpreter.
func TestPythonPage(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, module := range []string{"numpy", "mpi4py"} {
		if _, _, code := testsupport.Run(t, limit, nil, "/usr/bin/python3", "-c", "import "+module); code != 0 {
			testsupport.Unable(t, "python3-%s is not installed", module)
		}
	}
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	folder, ran := t.TempDir(), 0
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(testsupport.Root(t), "examples", "python"))))
	for _, b := range blocks(read(t, "docs/python.md")) {
		if b.heading == "A prompt" && b.mark == "" {
			continue // at a terminal: TestPromptInTerminal, TestPromptMPI4PY
		}
		if file, quoted := strings.CutPrefix(b.mark, "quote "); quoted {
			assert.Contains(t, read(t, file), strings.Join(b.lines, "\n")+"\n")
			continue
		}
		require.Equal(t, "run", b.mark, "under %q", b.heading)
		commands, output := session(b.lines)
		printed, stderr := shell(t, folder, commands)
		assert.Regexp(t, pattern(output), printed, "%s%s", commands, stderr)
		ran++
	}
	assert.Equal(t, 6, ran)
}
