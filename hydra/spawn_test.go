// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/pmi"
)

// Each rank of a spawn that fails gets a code. It says that its own program is at fault, or that it was not started because of
// another program.
func TestSpawnCodes(t *testing.T) {
	for _, request := range []pmi.SpawnRequest{{}, {Blocks: []pmi.SpawnBlock{{Ranks: -1}}}} {
		assert.Empty(t, (&birth{request: request}).codes(-1))
	}
	two := birth{request: pmi.SpawnRequest{Blocks: []pmi.SpawnBlock{{Ranks: 2}, {Ranks: 1}}}}
	assert.Equal(t, []int{spawnFailed, spawnFailed, spawnFailed}, two.codes(-1))
	assert.Equal(t, []int{spawnNotStarted, spawnNotStarted, spawnFailed}, two.codes(1))
}
