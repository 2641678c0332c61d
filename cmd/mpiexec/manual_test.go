// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The lines of -launcher manual start the proxies, whoever runs them; the folder of their pipes is gone afterwards.
func TestManual(t *testing.T) {
	testsupport.NothingLeft(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	j := launchTo(t, nil, w, "mpiexec", "-launcher", "manual", "-hosts", "a,b", "-n", "2", "-l", "sh", "-c", "echo $PMI_HOSTNAME")
	w.Close()
	var commands []*exec.Cmd
	var rest []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if command, found := strings.CutPrefix(lines.Text(), "HYDRA_LAUNCH: "); found {
			commands = append(commands, exec.Command("sh", "-c", command))
		} else if lines.Text() == "HYDRA_LAUNCH_END" {
			for _, command := range commands {
				require.NoError(t, command.Start())
			}
		} else {
			rest = append(rest, lines.Text())
		}
	}
	assert.Zero(t, j.end(t), j.errOut.String())
	for _, command := range commands {
		assert.NoError(t, command.Wait())
	}
	assert.Len(t, commands, 2)
	assert.ElementsMatch(t, []string{"[0] a", "[1] b"}, rest)
	left, _ := filepath.Glob(temp + "/mpiexec*")
	assert.Empty(t, left)
}
