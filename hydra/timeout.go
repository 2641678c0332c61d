// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// timedOut ends a job at its time limit. The proxies first tell where their ranks are: SIGTERM changes that.
func (j *Job) timedOut() {
	terminate := func() {
		j.signal(unix.SIGTERM)
		j.grace = time.After(termGrace)
	}
	if !j.outcome.decide(ExitLauncher) {
		terminate()
		return
	}
	j.outcome.note(fmt.Sprintf("APPLICATION TIMED OUT, TIMEOUT = %s", j.timeout))
	j.locate(func() {
		j.lastSeen = j.whereaboutLines()
		terminate()
	})
}
