// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"runtime"
	"sync"
)

// lasting passes functions to a thread that lives as long as this process.
var lasting = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// OnLastingThread runs f on a thread that lives as long as this process. This is needed because PR_SET_PDEATHSIG fires when the
// thread that forked ends, and not when its process ends (prctl(2)).
func OnLastingThread(f func()) {
	done := make(chan struct{})
	lasting() <- func() { defer close(done); f() }
	<-done
}
