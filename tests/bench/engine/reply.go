// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	register(bench{
		name:    "Reply",
		about:   "how long a port that computes for " + computation.String() + " at a time takes to reply, with help of the port that asks and without",
		limit:   30 * time.Second,
		sides:   func(plan) []string { return []string{"Reply/model=per-vni/help=on", "Reply/model=per-vni/help=off"} },
		measure: measureReply,
		cores:   2,
		goals: []report.Goal{
			{What: "reply of a port that computes, with help, in us", Name: "Reply/model=per-vni/help=on/size=8/at=p50", AtMost: 2000},
			{What: "reply of a port that computes, with help/without", Name: "Reply/model=per-vni/help=on/size=8/at=p50", Base: "Reply/model=per-vni/help=off/size=8/at=p50"},
			{What: "1 MiB to a port that computes, with help, in us", Name: "Reply/model=per-vni/help=on/size=1048576/at=p50", AtMost: 2000},
			{What: "1 MiB to a port that computes, with help/without", Name: "Reply/model=per-vni/help=on/size=1048576/at=p50", Base: "Reply/model=per-vni/help=off/size=1048576/at=p50"},
		},
	})
}

const (
	computation = 40 * time.Millisecond
	questions   = 30
)

// measureReply has port 0 ask, and port 1 compute and make progress once between two computations.
func measureReply(m *meter) error {
	var answer atomic.Uint64
	f, err := engine.New(engine.Options{Ports: 2, Model: modelOf(m.side), Help: m.side.Get("help") == "on", Handlers: []engine.Handler{
		func(p *engine.Port, e engine.Envelope, _ []byte) {
			_, _ = p.Invoke(nil, engine.Envelope{Context: e.Context, Peer: e.Peer, Tag: 1}) // its end is the answer
		},
		func(_ *engine.Port, e engine.Envelope, _ []byte) { answer.Store(uint64(e.Context)) },
	}})
	if err != nil {
		return err
	}
	defer f.Close()
	for _, size := range []int{8, 1 << 20} {
		took := make([]time.Duration, questions)
		var over atomic.Bool
		messages := questions // that are received; the small ones are active messages
		if size == 8 {
			messages = 0
		}
		out, in, receives := make([]byte, size), make([]byte, messages*size), make([]engine.Request, messages)
		for i := range receives {
			if receives[i], err = f.Port(1).Irecv(in[i*size:][:size], engine.Envelope{Context: uint32(size), Tag: int32(i)}); err != nil {
				return err
			}
		}
		ask := func() error {
			defer over.Store(true)
			for i := range took {
				begin := time.Now()
				stamp(out, uint64(i))
				var err error
				if messages > 0 {
					err = f.Port(0).Send(out, engine.Envelope{Context: uint32(size), Peer: 1, Tag: int32(i)})
				} else if _, err = f.Port(0).Invoke(out, engine.Envelope{Context: uint32(i + 1), Peer: 1}); err == nil {
					err = f.Port(0).Await(func() bool { return answer.Load() == uint64(i+1) })
				}
				if err != nil {
					return err
				}
				took[i] = time.Since(begin)
				time.Sleep(time.Duration(i) * computation / questions) // all phases of a computation
			}
			return nil
		}
		compute := func() error {
			for !over.Load() {
				f.Port(1).Progress()
				for begin := time.Now(); time.Since(begin) < computation && !over.Load(); {
				}
			}
			for i, r := range receives {
				if _, err := r.Wait(); err != nil {
					return err
				}
				if err := stamped(in[i*size:][:size], uint64(i)); err != nil {
					return err
				}
			}
			return nil
		}
		if _, err := alongside(ask, compute); err != nil {
			return err
		}
		slices.Sort(took)
		m.print(questions, microsecondsOf(took[questions/2], 1), "us", fmt.Sprintf("size=%d", size), "at=p50")
		m.print(questions, microsecondsOf(took[questions-1], 1), "us", fmt.Sprintf("size=%d", size), "at=max")
	}
	return nil
}
