// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pids

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	for line, want := range map[string][]int{"1": {1}, "1 2": {1, 2}, "1,2 -x 3": {1, 2, 3}, "-x 7": {7}} {
		ids, x, err := parse(line)
		assert.NoError(t, err, line)
		assert.Equal(t, want, ids, line)
		assert.Equal(t, strings.Contains(line, "-x"), x, line)
	}
	for line, want := range map[string]string{
		"": "no PID given", "-x": "no PID given", "1 0": "0 is no PID", "1,": " is no PID", "x": "x is no PID", "-9": "unknown option -9", "1 -y": "unknown option -y",
	} {
		_, _, err := parse(line)
		assert.ErrorContains(t, err, want, line)
	}
}

func parse(line string) (ids []int, x bool, err error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&x, "x", false, "")
	ids, err = Parse(flags, strings.Fields(line))
	return ids, x, err
}
