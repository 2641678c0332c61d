// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The folder of a group whose process was killed goes when the next one starts; that of one that lives stays.
func TestFolders(t *testing.T) {
	parent := t.TempDir()
	var lives, dead, next Group
	require.NoError(t, lives.makeFolder(parent))
	require.NoError(t, dead.makeFolder(parent))
	require.NoError(t, os.WriteFile(filepath.Join(dead.dir, "key"), nil, 0o600))
	require.NoError(t, dead.alive.Close())
	require.NoError(t, next.makeFolder(parent))
	assert.NoDirExists(t, dead.dir)
	assert.FileExists(t, filepath.Join(lives.dir, "alive"))
	require.NoError(t, lives.Stop())
	require.NoError(t, next.Stop())
	assert.Empty(t, list(t, parent))
}
