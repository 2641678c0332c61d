// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// busybox, which reads such archives too, unpacks what was packed.
func TestArchive(t *testing.T) {
	testsupport.Require(t, "busybox")
	files := map[string]string{"init": "#!/bin/sh\n", "bin/x": "", "bin/four": "1234", "a-longer-name": "12345"}
	var a archive
	a.add("bin", folderMode, nil)
	for name, content := range files {
		a.add(name, fileMode, []byte(content))
	}
	a.end()
	cmd := exec.Command("busybox", "cpio", "-i")
	cmd.Dir, cmd.Stdin = t.TempDir(), bytes.NewReader(a.Bytes())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for name, content := range files {
		got, err := os.ReadFile(filepath.Join(cmd.Dir, name))
		require.NoError(t, err)
		assert.Equal(t, content, string(got), name)
		info, err := os.Stat(filepath.Join(cmd.Dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o755), info.Mode(), name)
	}
}
