// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/tests/bench/report"
)

const (
	processes = "Processes/mode=engine/between=processes/pairs=1"
	ofPair    = "/mode=engine/between=processes/pairs=1"
	flatPair  = "/mode=flat/between=processes/pairs=1"
)

func init() {
	register(bench{
		name:    "Processes",
		about:   "latency, rate and bandwidth of a pair of processes, by size and way of large messages, one by one and in batches",
		limit:   60 * time.Second,
		sides:   func(plan) []string { return []string{processes, processes + "/large=parts", processes + batch} },
		measure: measureProcesses,
		cores:   2,
		goals: []report.Goal{
			{What: "8 B latency between processes, engine/flat MPICH", Name: "Latency" + ofPair + "/size=8", Base: "Latency" + flatPair + "/size=8", NotWorse: true},
			{What: "8 B message rate between processes, engine/flat MPICH", Name: "Rate" + ofPair + "/size=8", Base: "Rate" + flatPair + "/size=8", NotWorse: true},
			{What: "8 B message rate between processes in batches, engine/flat MPICH", Name: "Rate" + ofPair + batch + "/size=8", Base: "Rate" + flatPair + "/size=8", AtLeast: 1.2},
			{What: "4 MiB bandwidth between processes, engine/flat MPICH", Name: "Bandwidth" + ofPair + large, Base: "Bandwidth" + flatPair + large, NotWorse: true},
			{What: "8 B latency, processes/threads", Name: "Latency" + ofPair + "/size=8", Base: latency + "/size=8"},
			{What: "4 MiB bandwidth between processes, in parts/one copy", Name: "Bandwidth" + ofPair + "/large=parts" + large, Base: "Bandwidth" + ofPair + large},
		},
	})
}

// What the second process does next, in a message of three numbers: which of these, of
// which size, how often.
const (
	doVolley = iota + 1
	doFlow
	doEnd

	orderTag = 1
)

// measureProcesses measures with a process that it starts, which is this function too.
func measureProcesses(m *meter) error {
	if m.side.Get("rank") == "1" {
		return m.follow()
	}
	port, end, err := m.lead()
	if err != nil {
		return err
	}
	for _, size := range m.sizes() {
		if err := m.measurePair(port, size); err != nil {
			return errors.Join(err, end())
		}
	}
	return errors.Join(order(port, doEnd, 0, 0), end())
}

func (m *meter) measurePair(port *engine.Port, size int) error {
	key := fmt.Sprintf("size=%d", size)
	toAndFro := func(rounds int) (time.Duration, error) {
		if err := order(port, doVolley, size, rounds); err != nil {
			return 0, err
		}
		return volley(port, size, rounds)
	}
	rounds, took, err := m.repeat(toAndFro)
	if err != nil {
		return err
	}
	m.printAs("Latency", 2*rounds, microsecondsOf(took, 2*rounds), "us/msg", key)
	if size == 8 && m.side.Kind == "Processes" && m.side.Get("large") == "" && !m.batched() {
		if err := m.fastestOf(toAndFro, "between=processes/size=8"); err != nil {
			return err
		}
	}
	out, messages := make([]byte, size), messagesOf(size)
	rounds, took, err = m.repeat(func(rounds int) (time.Duration, error) {
		if err := order(port, doFlow, size, rounds); err != nil {
			return 0, err
		}
		return flow(port, out, nil, messages, rounds, m.batched())
	})
	messages *= rounds
	m.printAs("Rate", messages, millionsOf(took, messages), "Mmsg/s", key)
	m.printAs("Bandwidth", messages, float64(size)/nanosecondsOf(took, messages), "GB/s", key)
	return err
}

func order(port *engine.Port, what, size, rounds int) error {
	var b []byte
	for _, n := range []int{what, size, rounds} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return port.Send(b, engine.Envelope{Peer: 1, Tag: orderTag})
}

// lead starts the second process and returns this one's port. end waits for the other.
func (m *meter) lead() (port *engine.Port, end func() error, err error) {
	var forMeet, forJoin [2]*os.File
	for i := range forMeet {
		if forMeet[i], forJoin[i], err = shm.Socketpair(); err != nil {
			return nil, nil, err
		}
		defer forMeet[i].Close()
		defer forJoin[i].Close()
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	child := exec.Command(self, "-measure", m.side.String()+"/rank=1")
	child.Stderr, child.ExtraFiles = os.Stderr, forJoin[1:]
	if err := child.Start(); err != nil {
		return nil, nil, err
	}
	met := make(chan error, 1)
	go func() { met <- shm.Meet(context.Background(), forMeet[:]) }()
	port, leave, err := m.part(0, forJoin[0])
	if err = errors.Join(err, <-met); err != nil {
		return nil, nil, errors.Join(err, child.Process.Kill(), child.Wait())
	}
	return port, func() error { return errors.Join(child.Wait(), leave()) }, nil
}

// part joins as one rank of two, on its core.
func (m *meter) part(rank int, socket *os.File) (port *engine.Port, leave func() error, err error) {
	if err := pin(m.cores[rank%len(m.cores)]); err != nil {
		return nil, nil, err
	}
	o := m.segment()
	o.First, o.Ports, o.Total = rank, 1, 2
	n, err := shm.Join(context.Background(), socket, o)
	if err != nil {
		return nil, nil, err
	}
	f, err := engine.New(engine.Options{Carrier: n})
	if err != nil {
		return nil, nil, errors.Join(err, n.Close())
	}
	return f.Port(rank), func() error { return errors.Join(f.Close(), n.Close()) }, nil
}

// follow does what the first process orders.
func (m *meter) follow() error {
	port, leave, err := m.part(1, os.NewFile(3, "socket"))
	if err != nil {
		return err
	}
	return errors.Join(m.obey(port), leave())
}

// obey does what the first process orders, until it orders the end.
func (m *meter) obey(port *engine.Port) (err error) {
	in := make([]byte, roomForThem)
	for what := uint64(0); what != doEnd && err == nil; {
		var b [24]byte
		if _, err = port.Recv(b[:], engine.Envelope{Peer: 0, Tag: orderTag}); err != nil {
			break
		}
		what = binary.LittleEndian.Uint64(b[:])
		size, rounds := int(binary.LittleEndian.Uint64(b[8:])), int(binary.LittleEndian.Uint64(b[16:]))
		switch what {
		case doVolley:
			_, err = volley(port, size, rounds)
		case doFlow:
			_, err = flow(port, make([]byte, size), in, messagesOf(size), rounds, m.batched())
		}
	}
	return err
}
