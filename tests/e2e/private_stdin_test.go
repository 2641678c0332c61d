// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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

// stdin reaches the private ranks that -stdin names, all of it to each, whether they read the descriptor or the FILE; others have
// none. It is more than a pipe holds.
func TestPrivateStdin(t *testing.T) {
	testsupport.NothingLeft(t)
	var text strings.Builder
	for line := range 20000 {
		fmt.Fprintf(&text, "line %d\n", line)
	}
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	for options, readers := range map[string][]int{
		"-n 3 -rpp 3": {0}, "-n 3 -rpp 3 -stdin 1": {1}, "-n 3 -rpp 3 -stdin all": {0, 1, 2}, "-n 4 -rpp 2 -stdin 1,2": {1, 2},
		"-n 3 -rpp 3 -stdin none": nil,
	} {
		for _, program := range []string{"cat", "sed ''"} {
			t.Run(options+" "+program, func(t *testing.T) {
				command := fmt.Sprintf("exec %s %s -tpsl private -l %s <%s", built(t, "bin/mpiexec"), options, program, file)
				got := map[string]*strings.Builder{}
				for line := range strings.Lines(run(t, nil, "sh", "-c", command).succeeded(t).stdout) {
					rank, rest, _ := strings.Cut(line, " ")
					if got[rank] == nil {
						got[rank] = new(strings.Builder)
					}
					got[rank].WriteString(rest)
				}
				assert.Len(t, got, len(readers))
				for _, rank := range readers {
					label := fmt.Sprintf("[%d]", rank)
					if assert.Contains(t, got, label) {
						require.Zero(t, strings.Compare(text.String(), got[label].String()), "rank %d reads something else", rank) // not shown: it is long
					}
				}
			})
		}
	}
}
