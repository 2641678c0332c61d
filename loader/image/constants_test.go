// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program has its texts among its constants. A file that is no ELF file has none.
func TestHasConstant(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	assert.True(t, HasConstant(self, "a text of this test alone"))
	assert.False(t, HasConstant(self, string([]byte{7, 1, 's', 0, 'q', 2, 9, 0xfe, 'z', 3, 3, 0xfd})))
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("a text of this test alone"), 0o600))
	assert.False(t, HasConstant(text, "a text of this test alone"))
	assert.False(t, HasConstant(text+"-not", ""))
}
