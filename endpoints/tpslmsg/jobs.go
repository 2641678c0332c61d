// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/job"
)

// A work is a job, as the header calls it, with its ports of this process.
type work struct {
	job    *job.Job
	number uint64 // its own
	first  uint64 // the number of its first port; the others follow
	ports  []*port
	ends   atomic.Bool
}

var (
	works = numbers[work]{kind: "job"}
	ports = numbers[port]{kind: "port"}

	// begun is set when a process has begun its one session with its launcher. Its descriptor may be another file's by now.
	begun atomic.Bool
)

// start makes this process's part of a job.
func start(here int, shared bool, limit time.Duration) (*work, error) {
	if os.Getenv("PMI_FD") != "" && begun.Swap(true) {
		return nil, refusal{launcher, "this process has started its launcher's job before: that can be done once"}
	}
	w := &work{}
	options := engine.Options{Ports: here, Handlers: []engine.Handler{w.signalled}}
	if shared {
		options.Model = engine.LockQ
	}
	var err error
	if w.job, err = job.StartWithin(limit, options); err != nil {
		return nil, refusal{launcher, err.Error()}
	}
	for i := range here {
		w.ports = append(w.ports, newPort(w, w.job.Fabric.Port(w.job.First+i), shared))
	}
	w.first = ports.add(w.ports...)
	w.number = works.add(w)
	return w, nil
}

// end ends it, when nobody is in a call of its ports any more.
func (w *work) end() error {
	if w.ends.Swap(true) {
		return refusal{isClosed, "the job is being ended by another thread"}
	}
	for _, p := range w.ports {
		for p.users.Load() > 0 {
			time.Sleep(nap)
		}
	}
	works.drop(w.number, 1)
	ports.drop(w.first, uint64(len(w.ports)))
	if err := w.job.Close(); err != nil {
		return refusal{launcher, err.Error()}
	}
	return nil
}

// nap is how long who ends a job sleeps between two looks at the calls that it waits for.
const nap = 100 * time.Microsecond

// numberOf returns the number of the port with a rank.
func (w *work) numberOf(rank int) (uint64, error) {
	i, here := rank-w.job.First, len(w.ports)
	if i < 0 || i >= here {
		return 0, refusal{invalid, fmt.Sprintf("rank %d: this process has the ranks %d to %d", rank, w.job.First, w.job.First+here-1)}
	}
	return w.first + uint64(i), nil
}
