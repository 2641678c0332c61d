// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A helper thread that allocates nothing has no arena of malloc: to be handed its instance takes none.
func TestThreadsTakeNoArena(t *testing.T) {
	i := open(t, library(t, "arenas.c"))
	defer i.Close()
	assert.Zero(t, call(t, i, "arenas_of_threads"))
}
