// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// What a message of a port to itself costs by batches from C, and from Go by requests and by ends into a queue. They take turns; each
// figure is the fastest of all.
func BenchmarkBatches(b *testing.B) {
	folder := filepath.Join(testsupport.Build(b), "lib")
	program := testsupport.CC(b, "gcc", "testdata/batches.c", "-O2", "-I../../include", "-L"+folder, "-ltpslmsg", "-Wl,-rpath,"+folder)
	best := map[string]float64{}
	note := func(name string, ns float64) {
		if before, found := best[name]; !found || ns < before {
			best[name] = ns
		}
	}
	for range max(b.N, 5) {
		for _, batch := range []int{1, 8, 64} {
			stdout, stderr, code := testsupport.Run(b, time.Minute, nil, program, strconv.Itoa(batch))
			ns, err := strconv.ParseFloat(strings.TrimSpace(stdout), 64)
			if err != nil || code != 0 {
				b.Fatal(stderr, err)
			}
			note(fmt.Sprintf("ns/c-%d", batch), ns)
			note(fmt.Sprintf("ns/go-%d", batch), byRequests(b, batch))
			note(fmt.Sprintf("ns/go-queue-%d", batch), byQueue(b, batch))
		}
	}
	for name, ns := range best {
		b.ReportMetric(ns, name)
	}
}

const messages, turns = 6400, 100

// fastest returns the ns of a message, of the fastest of many turns of batches.
func fastest(batch int, exchange func()) float64 {
	best := time.Duration(math.MaxInt64)
	for range turns {
		start := time.Now()
		for m := 0; m < messages; m += batch {
			exchange()
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds()) / messages
}

func byRequests(b *testing.B, batch int) float64 {
	f := newFabric(b)
	p, requests := f.Port(0), make([]engine.Request, 2*batch)
	in, out := make([][8]byte, batch), make([][8]byte, batch)
	return fastest(batch, func() {
		for i := range batch {
			requests[i], _ = p.Irecv(in[i][:], engine.Envelope{})
		}
		for i := range batch {
			requests[batch+i], _ = p.Isend(out[i][:], engine.Envelope{})
		}
		if err := engine.WaitAll(requests, nil); err != nil {
			b.Error(err)
		}
	})
}

func byQueue(b *testing.B, batch int) float64 {
	f := newFabric(b)
	p, queue := f.Port(0), engine.NewQueue(2*batch)
	into := p.Into(queue, 1)
	in, out := make([][8]byte, batch), make([][8]byte, batch)
	return fastest(batch, func() {
		for i := range batch {
			_ = into.Recv(in[i][:], engine.Envelope{})
		}
		for i := range batch {
			_ = into.Send(out[i][:], engine.Envelope{})
		}
		for range 2 * batch {
			if _, err := queue.Wait(p); err != nil {
				b.Error(err)
			}
		}
	})
}

func newFabric(b *testing.B) *engine.Fabric {
	f, err := engine.New(engine.Options{Ports: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}
