// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPattern(t *testing.T) {
	at := Origin{Label: "4-7", Group: 1, Proxy: 2, Host: "a%r", Seconds: 3}
	pattern, err := ParsePattern("%r|%g|%p|%h|%t|%%r|")
	require.NoError(t, err)
	assert.Equal(t, "4-7|1|2|a%r|3|%r|", pattern.Expand(at))
	for _, text := range []string{"%", "x%q", "%%%"} {
		_, err := ParsePattern(text)
		assert.ErrorContains(t, err, "use %r (rank)", text)
	}
}
