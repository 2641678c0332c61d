// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
)

// sockets returns the two ends of so many sockets to meet by.
func sockets(t testing.TB, count int) (forMeet, forJoin []*os.File) {
	t.Helper()
	for range count {
		m, j, err := Socketpair()
		require.NoError(t, err)
		t.Cleanup(func() { m.Close(); j.Close() })
		forMeet, forJoin = append(forMeet, m), append(forJoin, j)
	}
	return forMeet, forJoin
}

// joined returns nodes of this one process that are joined as several are.
func joined(t testing.TB, options ...Options) []*Node {
	t.Helper()
	forMeet, forJoin := sockets(t, len(options))
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	nodes := make([]*Node, len(options))
	ends := make(chan error)
	go func() { ends <- Meet(ctx, forMeet) }()
	for i := range options {
		go func() {
			var err error
			nodes[i], err = Join(ctx, forJoin[i], options[i])
			ends <- err
		}()
	}
	for range len(options) + 1 {
		require.NoError(t, <-ends)
	}
	t.Cleanup(func() { carriertest.CloseAll(t, nodes) })
	return nodes
}

// pair returns the ports of two nodes with one rank each.
func pair(t testing.TB, o Options) (a, b *Port) {
	t.Helper()
	o.Ports, o.Total = 1, 2
	second := o
	second.First = 1
	nodes := joined(t, o, second)
	return nodes[0].port(0), nodes[1].port(1)
}

// sender is a port with what moves it on.
func sender(p *Port) carriertest.Sender {
	return carriertest.Sender{Port: p, Progress: func() { time.Sleep(10 * time.Microsecond) }}
}

// mustSend sends when there is room.
func mustSend(t testing.TB, p *Port, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	return sender(p).MustSend(t, to, tag, buf, handle)
}
