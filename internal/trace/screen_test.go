// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A line too long and a line too many would stay for good.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	rows, columns := 4, 8
	s := screen{w: &out, size: func() (int, int) { return rows, columns }}
	drawn := func(text string) string {
		out.Reset()
		require.NoError(t, s.draw(text))
		return out.String()
	}
	assert.Equal(t, "12345678\nb\n", drawn("123456789\nb\n"))
	assert.Equal(t, "\x1b[2A\x1b[Ja\nb\nc\n", drawn("a\nb\nc\nd\ne\n"))
	rows, columns = 2, 1
	assert.Equal(t, "\x1b[3A\x1b[Ja\n", drawn("ab\ncd\n"))
	out.Reset()
	s.clear()
	s.clear()
	assert.Equal(t, "\x1b[1A\x1b[J", out.String())
}
