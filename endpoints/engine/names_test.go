// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every model below the last has a name of its own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Models() {
		assert.NotEmpty(t, m.String())
		assert.False(t, seen[m.String()], m)
		seen[m.String()] = true
	}
	assert.Equal(t, "private", Private.String())
}
