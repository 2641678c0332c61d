// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"runtime/debug"
	"sync"
)

// Rarely keeps the collector and its threads off the program's cores while it starts: the
// loader allocates some megabytes in all. At 64 MiB it runs, as it must.
func Rarely() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(64 << 20)
}

// Settle gives back, once and in the background, what starting took: 7 MB that each process
// would keep, for 3 ms of a core. Later it would be in the way of ranks that compute.
var Settle = sync.OnceFunc(func() { go debug.FreeOSMemory() })
