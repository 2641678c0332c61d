// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	goals := []report.Goal{
		{What: "message of one thread to itself, per-VNI/global", Name: alone("per-vni"), Base: alone("global"), AtMost: 1.15},
		{What: "message of one thread to itself, LockQ/per-VNI", Name: alone("lockq"), Base: alone("per-vni"), AtMost: 1.10},
		{What: "message of one thread to itself, CSync/global", Name: alone("csync"), Base: alone("global")},
		{What: "message of one thread to itself, HMCS/global", Name: alone("hmcs"), Base: alone("global")},
		{What: "message of one thread to itself, offload/global", Name: alone("offload"), Base: alone("global")},
		{What: "message of one thread to itself, concurrent/per-VNI", Name: alone("concurrent"), Base: alone("per-vni")},
	}
	for _, op := range []string{"isend", "irecv", "self"} {
		for _, threads := range []string{"2", "4"} {
			of := func(model string) string {
				return "Share/op=" + op + "/model=" + model + "/threads=" + threads + "/size=64"
			}
			for _, model := range []engine.Model{engine.PerVNI, engine.LockQ} {
				goals = append(goals, report.Goal{What: op + " by " + threads + " threads, concurrent/" + model.String(), Name: of("concurrent"), Base: of(model.String())})
			}
		}
	}
	register(bench{
		name:    "Share",
		about:   "one port that threads share, by model, threads and size: Isend, Irecv, round trips, messages to itself, Put",
		limit:   60 * time.Second,
		sides:   shareSides,
		measure: measureShare,
		cores:   16,
		goals:   goals,
	})
}

// alone names the figure of one thread on a port that more might share.
func alone(model string) string { return "Share/op=self/model=" + model + "/threads=1/size=64" }

// How the port is shared.
var shareOps = map[string]func(f *engine.Fabric, threads, size, rounds int) (time.Duration, error){
	"isend": func(f *engine.Fabric, t, size, rounds int) (time.Duration, error) {
		return exchange(f, t, t, 1, size, rounds)
	},
	"irecv": func(f *engine.Fabric, t, size, rounds int) (time.Duration, error) {
		return exchange(f, t, 1, t, size, rounds)
	},
	"pingpong": serve,
	"self":     toSelf,
	"put":      putInto,
}

func shareSides(plan) (sides []string) {
	for _, op := range []string{"isend", "irecv", "pingpong", "self", "put"} {
		for _, model := range engine.Models() {
			if model != engine.Private {
				sides = append(sides, "Share/op="+op+"/model="+model.String())
			}
		}
	}
	return sides
}

// Sizes at a fixed number of threads, and the size for all numbers of threads.
const (
	shareSize    = 64
	shareThreads = 4
)

func (p plan) shareSizes() []int {
	if p.quick {
		return []int{8, 4096}
	}
	return []int{8, 512, 4096, 16384, 65536}
}

func measureShare(m *meter) error {
	for _, threads := range m.threads {
		if err := m.share(threads, shareSize); err != nil {
			return err
		}
	}
	for _, size := range m.shareSizes() {
		if err := m.share(shareThreads, size); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) share(threads, size int) error {
	f, err := fabric(m.side, 2)
	if err != nil {
		return err
	}
	defer f.Close()
	op := m.side.Get("op")
	rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return shareOps[op](f, threads, size, rounds) })
	if err != nil {
		return err
	}
	keys := []string{fmt.Sprintf("threads=%d", threads), fmt.Sprintf("size=%d", size)}
	switch messages := rounds * threads; op {
	case "isend", "irecv", "put":
		m.print(messages*burst, millionsOf(took, messages*burst), "Mmsg/s", keys...)
	case "pingpong":
		m.print(messages, microsecondsOf(took, 2*rounds), "us/msg", keys...)
	default:
		m.print(messages, nanosecondsOf(took, messages), "ns/msg", keys...)
	}
	return nil
}

// alongside runs all of them at once, as goroutines that belong to no OS thread: where they are more than
// cores, a switch between OS threads would be most of what is measured.
func alongside(threads ...func() error) (took time.Duration, err error) {
	errs := make([]error, len(threads))
	var all sync.WaitGroup
	begin := time.Now()
	for i, run := range threads {
		all.Go(func() { errs[i] = run() })
	}
	all.Wait()
	return time.Since(begin), errors.Join(errs...)
}
