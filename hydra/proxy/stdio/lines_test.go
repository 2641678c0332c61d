// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func cut(prefix string, chunks ...string) []string {
	var out []string
	c := &lineCutter{prefix: func() string { return prefix }, emit: func(b []byte) { out = append(out, string(b)) }}
	for _, chunk := range chunks {
		c.write([]byte(chunk))
	}
	c.flush()
	return out
}

func TestLineCutter(t *testing.T) {
	assert.Equal(t, []string{"abc def\n"}, cut("", "abc", " def\n"))
	assert.Equal(t, []string{"a\nb\n", "c"}, cut("", "a\nb\nc"))
	assert.Equal(t, []string{"[1] abc def\n", "[1] x\n[1] y\n", "[1] z"}, cut("[1] ", "abc", " def\n", "x\ny\nz"))
	assert.Empty(t, cut("", ""))
	assert.Equal(t, []string{"\n\n"}, cut("", "\n\n"))
	assert.Equal(t, []string{"[0] \n[0] \n"}, cut("[0] ", "\n\n"))
}

// A line up to maxLine stays whole; a longer one comes in pieces with one prefix.
func TestLineCutterLongLine(t *testing.T) {
	whole := strings.Repeat("x", maxLine-1) + "\n"
	assert.Equal(t, []string{"[1] " + whole}, cut("[1] ", whole[:100000], whole[100000:]))
	pieces := cut("[1] ", strings.Repeat("x", maxLine), strings.Repeat("x", maxLine), "\nnext\n")
	joined := strings.Join(pieces, "")
	assert.Equal(t, 2, strings.Count(joined, "[1] "))
	assert.Len(t, joined, 2*maxLine+len("[1] \n[1] next\n"))
}

func FuzzLineCutter(f *testing.F) {
	f.Add([]byte("a\nb"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(1, min(size, 64))
		var out []byte
		c := &lineCutter{emit: func(b []byte) { out = append(out, b...) }}
		for chunk := range slicesOf(text, size) {
			c.write(chunk)
		}
		c.flush()
		if !bytes.Equal(text, out) {
			t.Fatalf("%q became %q", text, out)
		}
	})
}

func slicesOf(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}
