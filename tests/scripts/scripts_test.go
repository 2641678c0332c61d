// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package scripts has tests of the scripts for developers.
package scripts

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A script that measures jobs in the background ends them with itself, and nothing else: here make fails before there is one, and the
// script's caller, which is in its process group, goes on. Its work folder goes.
func TestScriptsEndTheirJobsOnly(t *testing.T) {
	testsupport.NothingLeft(t)
	tools, work := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "make"), []byte("#!/bin/sh\nexit 7\n"), 0o755))
	env := []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "TMPDIR=" + work}
	for _, name := range []string{"memory", "trace-overhead"} {
		script := filepath.Join(testsupport.Root(t), "scripts", name)
		out, stderr, code := testsupport.Run(t, time.Minute, env, "sh", "-c", `"$0"; echo code $?`, script)
		assert.Zero(t, code, name)
		assert.Equal(t, "code 7\n", out, "%s: %s", name, stderr)
		left, err := os.ReadDir(work)
		require.NoError(t, err)
		assert.Empty(t, left, name)
	}
}
