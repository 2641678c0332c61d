// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"runtime/debug"
	"sync"
	"time"
)

// Rarely keeps the collector and its threads off the program's cores while it starts: the
// loader allocates some megabytes in all. At 64 MiB it runs, as it must.
func Rarely() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(64 << 20)
}

var settling = sync.OnceValue(func() *time.Timer { return time.AfterFunc(time.Hour, debug.FreeOSMemory) })

// Settle gives back, in the background, what starting took: 7 MB that each process would keep, for
// 3 ms of a core. It does so after a while, unless it is called again meanwhile; then that counts.
// Much later it would be in the way of ranks that compute.
func Settle(after time.Duration) { settling().Reset(after) }
