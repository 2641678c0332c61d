// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// 500 hosts with the same trouble say it in one line.
func TestExplanations(t *testing.T) {
	var all explanations
	assert.Empty(t, all.lines())
	for i := range 500 {
		all.add(fmt.Sprint("n", i), "it is down")
		all.add(fmt.Sprint("n", i), "it is down")
	}
	all.add("a", "it is gone")
	all.add("b", "it is full")
	all.add("a", "it is full")
	assert.Equal(t, []string{
		"mpiexec: host n0: it is down (and 499 more hosts)",
		"mpiexec: host a: it is gone",
		"mpiexec: host b: it is full (and 1 more host)",
	}, all.lines())
}
