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
