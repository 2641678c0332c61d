// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstead(t *testing.T) {
	ours := map[string]string{"libxpmem.so.0": "/lib/tpsl/libtpslxpmem.so"}
	assert.Equal(t, ours, (&Set{NoXPMEM: true}).Instead("/lib/tpsl"))
	assert.Empty(t, (&Set{}).Instead("/lib/tpsl"), "XPMEM serves all processes")
	assert.Empty(t, (&Set{NoXPMEM: true, Peers: true}).Instead("/lib/tpsl"), "ours would refuse the other processes")
}

func TestHasXPMEM(t *testing.T) {
	dev := t.TempDir()
	assert.False(t, hasXPMEM(dev))
	require.NoError(t, os.WriteFile(filepath.Join(dev, "xpmem"), nil, 0o600))
	assert.True(t, hasXPMEM(dev))
	assert.True(t, registers(dev))
}
