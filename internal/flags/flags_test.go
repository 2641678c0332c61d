// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrors(t *testing.T) {
	for argument, want := range map[string]string{
		"-jsno":                   "unknown option -jsno (did you mean -json?)",
		"--jsno":                  "unknown option -jsno (did you mean -json?)",
		"-zzz":                    "unknown option -zzz",
		"-for":                    "-for wants a value",
		"-for=soon":               "-for soon: not a value of this option",
		"-n=many":                 "-n many: not a value of this option",
		"-n=-1":                   "-n -1: not a value of this option",
		`-n=a "b" c`:              `-n a "b" c: not a value of this option`,
		"-json=ja":                "-json ja: not a value of this option",
		"-n=99999999999999999999": "-n 99999999999999999999: value out of range",
	} {
		set := New("tool")
		set.Bool("json", false, "")
		set.Duration("for", 0, "")
		set.Uint("n", 0, "")
		assert.EqualError(t, Parse(set, []string{argument}), want, argument)
	}
}

func TestHelp(t *testing.T) {
	for _, argument := range []string{"-h", "-help", "--help"} {
		assert.ErrorIs(t, Parse(New("tool"), []string{argument}), ErrHelp, argument)
	}
	set := New("tool")
	n := set.Int("n", 0, "")
	assert.NoError(t, Parse(set, []string{"-n", "3", "rest"}))
	assert.Equal(t, 3, *n)
	assert.Equal(t, []string{"rest"}, set.Args())
}
