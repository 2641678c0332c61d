// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shellwords

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      nil,
		" a  b\t":               {"a", "b"},
		`a\ b 'c "d' "e 'f\"g"`: {"a b", `c "d`, `e 'f"g`},
		`'' "" x''y`:            {"", "", "xy"},
		`"a\b" 'a\b' a\\b`:      {`a\b`, `a\b`, `a\b`},
		"\xff\xfe ü":            {"\xff\xfe", "ü"},
	} {
		words, err := Split(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, words, line)
	}
	for _, bad := range []string{"'a", `"a`, `a\`} {
		_, err := Split(bad)
		assert.Error(t, err, bad)
	}
}
