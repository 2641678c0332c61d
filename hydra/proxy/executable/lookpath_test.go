// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLookPath(t *testing.T) {
	env := []string{"PATH=/nonexistent:/usr/bin:/bin"}
	path, err := LookPath("sh", "", env, "/")
	assert.NoError(t, err)
	assert.Contains(t, path, "/bin/sh")
	_, err = LookPath("sh", "", nil, "/")
	assert.Error(t, err)
	path, err = LookPath("./sh", "/bin", nil, "/bin")
	assert.NoError(t, err)
	assert.Equal(t, "/bin/./sh", path)
	path, err = LookPath("passwd", "/none:/usr/bin", []string{"PATH=/etc"}, "/")
	assert.NoError(t, err)
	assert.Equal(t, "/usr/bin/passwd", path)
	path, err = LookPath("sh", "bin", env, "/usr")
	assert.NoError(t, err)
	assert.Equal(t, "/usr/bin/sh", path)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o755))
	for name, want := range map[string]string{"/etc": "is a directory", "/etc/passwd": "permission denied", fifo: "permission denied", "/none": "no such file", "none": "no such file"} {
		_, err = LookPath(name, "", env, "/")
		assert.ErrorContains(t, err, want)
	}
}
