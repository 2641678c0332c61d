// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"cmp"
	"time"
)

// answerLimit is how long proxies may take to answer an inquiry, unless it has a limit of its own.
const answerLimit = 2 * time.Second

// An inquiry is a question that mpiexec asks its proxies. It goes on when all have answered, or have had enough time. It is for the
// goroutine of the job.
type inquiry struct {
	then   []func()            // what follows; empty if nothing is asked
	silent map[*proxyLink]bool // who was asked the last time and has not answered
	limit  time.Duration       // 0: answerLimit
	late   <-chan time.Time    // fires when they have had enough time; nil if nothing is asked
}

// begin notes what follows, and calls ask for each proxy that is not done. Who begins while answers are still to come gets these as well.
func (q *inquiry) begin(links []*proxyLink, ask func(*proxyLink), then func()) {
	q.then = append(q.then, then)
	if len(q.then) > 1 {
		return
	}
	q.late = time.After(cmp.Or(q.limit, answerLimit))
	q.silent = map[*proxyLink]bool{}
	for _, link := range links {
		if !link.done {
			q.silent[link] = true
			ask(link)
		}
	}
	q.endIfAll()
}

// underWay reports whether answers are still to come.
func (q *inquiry) underWay() bool { return len(q.then) > 0 }

// answered notes that a proxy has answered.
func (q *inquiry) answered(link *proxyLink) {
	delete(q.silent, link)
	q.endIfAll()
}

// endIfAll goes on if no proxy has still to answer.
func (q *inquiry) endIfAll() {
	for link := range q.silent {
		if !link.done {
			return
		}
	}
	q.end()
}

// end goes on with what is known.
func (q *inquiry) end() {
	all := q.then
	q.then, q.late = nil, nil
	for _, then := range all {
		then()
	}
}
