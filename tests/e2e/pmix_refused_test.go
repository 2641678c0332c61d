// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a client asks for that cannot be had is an error of its own.
func TestPMIxRefusals(t *testing.T) {
	o := pmixJob(t, "-pmi x -n 1", pmixProgram(t, "pmixrefused")).succeeded(t)
	assert.Equal(t, "all refused\n", o.stdout)
	assert.Empty(t, o.stderr)
}

// More than a frame holds, from a host or from all of them, ends the job by a line, not with 0.
func TestPMIxTooMuch(t *testing.T) {
	program := pmixProgram(t, "pmixput")
	for bytes, stderr := range map[string]string{
		"34000000": `^mpiexec: proxy on [ab]: read frame of kind \d+: body of 68\d{6} bytes exceeds \d+\n$`,
		"68000000": `^mpiexec: proxy on [ab] died \(read frame of kind \d+: body of 68\d{6} bytes exceeds \d+\); rank [01] lost\n$`,
	} {
		o := pmixJob(t, "-pmi x -launcher fork -hosts a,b -n 2", program, bytes)
		assert.Equal(t, 255, o.code, bytes)
		assert.Empty(t, o.stdout, bytes)
		assert.Regexp(t, stderr, o.stderr)
	}
}
