// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Of four helper threads that allocate nothing none has an arena of malloc: to be handed its instance takes none. One may
// come with a thread that Go starts meanwhile.
func TestThreadsTakeNoArena(t *testing.T) {
	i := open(t, library(t, "arenas.c"))
	defer i.Close()
	arenas := call(t, i, "arenas_of_threads")
	assert.GreaterOrEqual(t, arenas, 0)
	assert.LessOrEqual(t, arenas, 1)
}

// A child of fork may start a thread, whatever threads were being started. In private mode these are those of other ranks.
func TestChildStartsThread(t *testing.T) {
	i := open(t, library(t, "born.c"))
	defer i.Close()
	forks := testsupport.Times(200, 1000)
	assert.Equal(t, forks, call(t, i, "children_end", uintptr(forks)))
}

// A child of fork may set handlers and unmap memory, whatever another thread was doing with those.
func TestChildOfForkFindsNoLockHeld(t *testing.T) {
	i := open(t, library(t, "forks.c"))
	defer i.Close()
	for what, forks := range map[string]uintptr{"forks_with_handlers": 50, "forks_with_segments": 1000} {
		assert.Equal(t, int(forks), call(t, i, what, forks), what)
	}
}

// An instance that is closed is not told of forks, as UCX's libraries ask to be.
func TestClosedInstanceIsNotToldOfForks(t *testing.T) {
	path := library(t, "born.c")
	i, other := open(t, path), open(t, path)
	defer other.Close()
	assert.Zero(t, call(t, i, "ask_for_forks"))
	i.Close()
	assert.Equal(t, 1, call(t, other, "children_end", 1))
}

// A thread that comes to an instance for the first time near its end is forgotten, too.
func TestThreadThatComesAtItsEnd(t *testing.T) {
	path, static := besideProgram(t), library(t, "static_tls.c", "-ftls-model=initial-exec")
	i := open(t, path)
	defer i.Close()
	require.Zero(t, call(t, i, "listen"))
	require.Zero(t, call(t, i, "runs_thread"))
	require.Equal(t, 1, call(t, i, "times_called"))
	open(t, static).Close() // goes through all threads
}
