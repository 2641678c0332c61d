// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIs(t *testing.T) {
	for path, want := range map[string]bool{"/dev/ptmx": true, os.DevNull: false, "terminal.go": false} {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		assert.Equal(t, want, Is(int(f.Fd())), path)
	}
}

func TestColourWanted(t *testing.T) {
	for value, want := range map[string]bool{"": true, "0": false, "1": false} {
		t.Setenv("NO_COLOR", value)
		assert.Equal(t, want, ColourWanted(), value)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a b\\\"ü�": "a b\\\"ü�", "\x1b[2Ja\nb\t": `\x1b[2Ja\nb\t`, "\xff": `\xff`, "\u202e": `\u202e`, "\u0085": `\u0085`,
	} {
		assert.Equal(t, want, Printable(text))
	}
}
