// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// A question comes from tpsl where. The answer is closed when it is whole.
type question struct{ answer chan<- string }

// serveState lets tpsl where ask this job. The job runs without it if it cannot.
func (j *Job) serveState() (stop func()) {
	if !j.plan.State.Notes() {
		return func() {}
	}
	server, err := whereabouts.Serve(func() string {
		answer := make(chan string, 1)
		select {
		case j.questions <- question{answer}:
		case <-j.over:
			return ""
		}
		select {
		case text := <-answer:
			return text
		case <-j.over:
			return ""
		}
	})
	if err != nil {
		j.stderr.line(fmt.Sprintf("mpiexec: tpsl where cannot ask this job: %v", err))
		return func() {}
	}
	return func() {
		close(j.over)
		server.Close()
	}
}

// answer tells where the ranks are.
func (j *Job) answer(q question) {
	j.locate(func() {
		var text strings.Builder
		for _, line := range j.whereaboutLines() {
			fmt.Fprintln(&text, strings.TrimPrefix(line, "mpiexec: "))
		}
		q.answer <- text.String()
	})
}

// tellState writes on stderr where the ranks are.
func (j *Job) tellState() {
	j.locate(func() {
		for _, line := range j.whereaboutLines() {
			j.stderr.line(line)
		}
	})
}

// hangTicker fires when it is time to look whether the ranks stand still; nil if that is not wanted.
func (j *Job) hangTicker() (ticks <-chan time.Time, stop func()) {
	if j.plan.State.HangAfter == 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(max(j.plan.State.HangAfter/2, 100*time.Millisecond))
	return ticker.C, ticker.Stop
}

// checkHang says where the ranks are if none has changed its state for a while; once until one changes it, or until more is known of why they
// wait.
func (j *Job) checkHang() {
	if j.ranksOver() || len(j.whenLocated) > 0 {
		return
	}
	j.locate(func() {
		if !j.standStill() {
			j.hangTold = nil
			return
		}
		if why := j.explanationLines(); j.hangTold == nil || !slices.Equal(why, j.hangTold) {
			j.hangTold = append([]string{}, why...)
			j.stderr.line(fmt.Sprintf("mpiexec: no rank has changed its state for %v", j.plan.State.HangAfter))
			for _, line := range j.whereaboutLines() {
				j.stderr.line(line)
			}
		}
	})
}

// standStill reports whether no rank has changed its state for a while, and some wait in calls.
func (j *Job) standStill() bool {
	waits := false
	for _, link := range j.proxies {
		for _, r := range link.where.Doing {
			if !r.Ended && r.Quiet < j.plan.State.HangAfter {
				return false
			}
			waits = waits || !r.Ended && len(r.Calls) > 0
		}
	}
	return waits
}
