// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

const (
	overTCP    = "/mode=engine/between=namespaces/pairs=1"
	overSocket = "/mode=socket/between=namespaces/pairs=1"
)

func init() {
	register(bench{
		name:  "TCP",
		about: "latency, rate and bandwidth of a pair of processes in two network namespaces, beside a C program's over a bare socket",
		limit: 3 * time.Minute,
		sides: func(plan) []string {
			return []string{"TCP" + overTCP, "TCP" + overSocket, "TCP" + overSocket + "/waits=polling"}
		},
		measure:  measureTCP,
		commands: [][]string{turns.CC("gcc", "socket")},
		cores:    2,
		goals: []report.Goal{
			{What: "8 B latency over TCP, engine/a bare socket that blocks", Name: "Latency" + overTCP + "/size=8", Base: "Latency" + overSocket + "/size=8", AtMost: 1.3},
			{What: "8 B latency over TCP, engine/a bare socket that is polled", Name: "Latency" + overTCP + "/size=8", Base: "Latency" + overSocket + "/waits=polling/size=8"},
			{What: "4 MiB bandwidth over TCP, engine/a bare socket", Name: "Bandwidth" + overTCP + large, Base: "Bandwidth" + overSocket + large, AtLeast: 0.9},
			{What: "8 B message rate over TCP, engine/a bare socket, a system call each", Name: "Rate" + overTCP + "/size=8", Base: "Rate" + overSocket + "/size=8"},
		},
	})
}

// The two namespaces are joined by so many cables, and use one port.
const (
	cables   = 2
	wirePort = "7000"
)

// wire returns the address of a namespace at a cable.
func wire(rank, cable int) string { return fmt.Sprintf("10.79.%d.%d", cable, 1+rank) }

// measureTCP measures with two processes, each in a network namespace of its own.
func measureTCP(m *meter) error {
	switch m.side.Get("rank") {
	case "0":
		return m.leadTCP()
	case "1":
		return m.followTCP()
	}
	return m.inNamespaces()
}

// inNamespaces runs the two processes. The words are a command for each end of each cable, with a place for its number.
func (m *meter) inNamespaces(words ...string) error {
	enter, end, err := namespaces(words)
	if err != nil {
		return err
	}
	defer end()
	var processes [2]*exec.Cmd
	for rank := range processes {
		argv, err := m.wired(rank)
		if err != nil {
			return err
		}
		argv = append(enter[rank], argv...)
		processes[rank] = exec.Command(argv[0], argv[1:]...)
		processes[rank].Env = append(os.Environ(), m.pair())
		processes[rank].Stdout, processes[rank].Stderr = m.out, os.Stderr
		processes[rank].SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
		if err := processes[rank].Start(); err != nil {
			return err
		}
		defer func() { _ = processes[rank].Process.Kill(); _ = processes[rank].Wait() }()
	}
	return errors.Join(processes[0].Wait(), processes[1].Wait())
}

// wired returns the command of one of the two processes.
func (m *meter) wired(rank int) ([]string, error) {
	if m.side.Get("mode") == "socket" {
		return []string{turns.Program("socket", "gcc"), fmt.Sprint(rank), wire(1, 0), wirePort, m.side.String(), m.milliseconds(), join(m.sizes())}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{self, "-measure", m.side.String() + fmt.Sprintf("/rank=%d", rank)}
	if m.quick {
		argv = append(argv, "-quick")
	}
	return argv, nil
}

// namespaces makes two network namespaces, has commands run for the ends of their cables, and returns how to start a process in each.
func namespaces(words []string) (enter [2][]string, end func(), err error) {
	var holders []*exec.Cmd
	end = func() {
		for _, h := range holders {
			_ = h.Process.Kill()
			_ = h.Wait()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	for rank := range enter {
		h := exec.Command("sleep", "infinity")
		h.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
		if err := h.Start(); err != nil {
			return enter, end, fmt.Errorf("make a network namespace, which takes root: %w", err)
		}
		holders = append(holders, h)
		enter[rank] = []string{"nsenter", "-t", fmt.Sprint(h.Process.Pid), "-n", "--"}
	}
	in := func(rank int, words string) error {
		argv := append(append([]string(nil), enter[rank]...), strings.Fields(words)...)
		text, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", words, err, text)
		}
		return nil
	}
	for cable := range cables {
		err = errors.Join(err, in(0, fmt.Sprintf("ip link add eth%d type veth peer name eth%[1]d netns %d", cable, holders[1].Process.Pid)))
		for rank := range enter {
			err = errors.Join(err, in(rank, fmt.Sprintf("ip addr add %s/24 dev eth%d", wire(rank, cable), cable)), in(rank, fmt.Sprintf("ip link set eth%d up", cable)))
			for _, w := range words {
				err = errors.Join(err, in(rank, fmt.Sprintf(w, cable)))
			}
		}
	}
	return enter, end, err
}

// partTCP joins as one rank of two, on its core, with so many rails and these options.
func (m *meter) partTCP(rank, rails int, o tcp.Options) (port *engine.Port, leave func() error, err error) {
	if err := pin(m.cores[rank%len(m.cores)]); err != nil {
		return nil, nil, err
	}
	o.Process, o.AtStart = rank, true
	for i := range 2 {
		p := tcp.Peer{First: i, Ports: 1, Address: net.JoinHostPort(wire(i, 0), wirePort)}
		for rail := 1; rail < rails; rail++ {
			p.Rails = append(p.Rails, net.JoinHostPort(wire(i, rail), wirePort))
		}
		o.Peers = append(o.Peers, p)
	}
	for _, address := range o.Peers[rank].Rails {
		rail, err := tcp.Listen(address)
		if err != nil {
			return nil, nil, err
		}
		o.Rails = append(o.Rails, rail)
	}
	l, err := tcp.Listen(o.Peers[rank].Address)
	if err != nil {
		return nil, nil, err
	}
	for other := o.Peers[1-rank].Address; ; time.Sleep(time.Millisecond) { // all listen before anybody joins
		if c, err := net.Dial("tcp", other); err == nil {
			c.Close()
			break
		}
	}
	n, err := tcp.Join(context.Background(), l, o)
	if err != nil {
		return nil, nil, err
	}
	f, err := engine.New(engine.Options{Carrier: n})
	if err != nil {
		return nil, nil, errors.Join(err, n.Close())
	}
	return f.Port(rank), func() error { return errors.Join(f.Close(), n.Close()) }, nil
}

// leadTCP measures as the first process.
func (m *meter) leadTCP() error {
	port, leave, err := m.partTCP(0, 1, tcp.Options{})
	if err != nil {
		return err
	}
	m.side.Keys = m.side.Keys[:len(m.side.Keys)-1] // but for the rank
	for _, size := range m.sizes() {
		if err := m.measurePair(port, size); err != nil {
			return errors.Join(err, leave())
		}
	}
	return errors.Join(order(port, doEnd, 0, 0), leave())
}

// followTCP does what the first process orders.
func (m *meter) followTCP() error {
	port, leave, err := m.partTCP(1, 1, tcp.Options{})
	if err != nil {
		return err
	}
	return errors.Join(m.obey(port), leave())
}
