// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Every command of docs/embedding.md works and prints what the page says, and what the page quotes stands so in the example.
func TestEmbedding(t *testing.T) {
	testsupport.NothingLeft(t)
	folder := t.TempDir()
	for _, file := range []string{"halo.c", "ring.c", "solver/poisson.h", "solver/poisson.c", "solver/flat.c", "solver/application.cc", "python/within.py"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), []byte(read(t, "examples/"+file)), 0o666))
	}
	ran := 0
	for n, b := range blocks(read(t, "docs/embedding.md")) {
		if file, quoted := strings.CutPrefix(b.mark, "quote "); quoted {
			assert.Contains(t, read(t, file), strings.Join(b.lines, "\n")+"\n")
			continue
		}
		require.Equal(t, "run", b.mark, "under %q", b.heading)
		ran++
		t.Run(fmt.Sprintf("%s, block %d", b.heading, n), func(t *testing.T) {
			commands, output := session(b.lines)
			printed, stderr := shell(t, folder, commands)
			assert.Regexp(t, pattern(output), printed, "%s%s", commands, stderr)
		})
	}
	assert.Equal(t, 4, ran)
}
