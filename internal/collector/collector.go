// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"runtime/debug"
	"sync"
	"time"
)

// settled is when a program that has started is no longer busy with that.
const settled = time.Second

// Rarely keeps the collector and its threads off the program's cores while it starts: the
// loader allocates some megabytes in all. At 64 MiB it runs, as it must.
func Rarely() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(64 << 20)
}

// Settle gives back, once, what starting took, a moment after the first call: 10 MiB that
// each process would keep, for 3 ms of a core.
var Settle = sync.OnceFunc(func() { time.AfterFunc(settled, debug.FreeOSMemory) })
