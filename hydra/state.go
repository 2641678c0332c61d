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

// serveState lets tpsl where and tpsl top ask this job. The job runs without it if it cannot.
func (j *Job) serveState() (stop func()) {
	server, err := whereabouts.Serve(asked{j})
	if err != nil {
		if j.plan.State.Notes() {
			j.stderr.line(fmt.Sprintf("mpiexec: tpsl where and tpsl top cannot ask this job: %v", err))
		}
		return func() {}
	}
	return func() {
		close(j.over)
		server.Close()
	}
}

// asked answers for the job. Its methods run on goroutines of those who ask.
type asked struct{ *Job }

// Where implements whereabouts.Respondent.
func (j asked) Where() (text string) {
	j.ask(func(answered func()) {
		j.locate(func() {
			text = ofUser(j.whereaboutLines()) + j.hint()
			answered()
		})
	})
	return text
}

// Stacks implements whereabouts.Respondent.
func (j asked) Stacks() (text string) {
	j.ask(func(answered func()) {
		j.locate(func() {
			text = ofUser(j.whereaboutLines()) + j.hint()
			j.unwind(func() {
				text += ofUser(j.stackLines())
				answered()
			})
		})
	})
	return text
}

// hint says what the user can do who is not told of calls.
func (j *Job) hint() string {
	if j.plan.State.Notes() {
		return ""
	}
	return "MPI calls are not noted: mpiexec -state has the ranks note them, and tpsl where -stacks tells the stacks of any job\n"
}

// ofUser makes a text of lines as mpiexec tells them.
func ofUser(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		fmt.Fprintln(&text, strings.TrimPrefix(line, "mpiexec: "))
	}
	return text.String()
}

// ask has the job's goroutine do something, and waits until that calls answered. It reports false if the job is over before.
func (j asked) ask(do func(answered func())) bool {
	done := make(chan struct{})
	select {
	case j.questions <- func() { do(func() { close(done) }) }:
	case <-j.over:
		return false
	}
	select {
	case <-done:
		return true
	case <-j.over:
		return false
	}
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
	if j.ranksOver() || j.locating.underWay() {
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
