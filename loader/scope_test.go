// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/internal/testsupport/dlcases"
)

// What an instance opens and looks up is what a process of ld.so's finds, case by case.
func TestScopes(t *testing.T) {
	for _, c := range dlcases.Cases {
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			program, driver := c.Build(t, folder)
			t.Chdir(folder)
			want, stderr, code := testsupport.Run(t, time.Minute, nil, program, c.Script)
			require.Zero(t, code, stderr)
			i := open(t, driver)
			buffer, text := cBuffer(t, 65536)
			_, err := i.Call("run", cString(t, c.Script), buffer, 65536)
			require.NoError(t, err)
			assert.Equal(t, want, text())
			i.Close()
		})
	}
}
