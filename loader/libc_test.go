// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/loader/plan"
)

// What plans are looked at with is what they are made with.
func TestRebound(t *testing.T) {
	assert.ElementsMatch(t, reboundPrivately(), plan.Rebound)
	assert.ElementsMatch(t, reboundOnce(), plan.ReboundOnce)
	assert.ElementsMatch(t, reboundProcess(), plan.ReboundProcess)
}
