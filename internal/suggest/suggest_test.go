// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	words := []string{"check", "doctor", "mem", "nic", "run", "trace"}
	for word, want := range map[string]string{
		"docter": "doctor", "dcotor": "doctor", "doctors": "doctor", "chekc": "check", "men": "mem", "traces": "trace",
		"doc": "", "statistics": "", "": "", "m": "", "em": "mem", "xy": "",
	} {
		assert.Equal(t, want, Nearest(word, words), word)
	}
	assert.Equal(t, "mem", Nearest("nem", []string{"mem", "new"}), "the first of those that are equally near")
	assert.Equal(t, "new", Nearest("neww", []string{"mew", "new"}), "the nearest one")
	assert.Empty(t, Nearest("word", nil))
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1}, {"ac", "abc", 1},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2},
	} {
		assert.Equal(t, c.want, distance(c.a, c.b), "%s, %s", c.a, c.b)
	}
}
