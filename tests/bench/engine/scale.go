// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/job"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/pmi"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// What a job of many processes costs, by their number.
func init() {
	register(bench{
		name:     "Scale",
		about:    "start of jobs of many processes: the launcher, the exchange of addresses, the engine, memory",
		commands: [][]string{{"make", "bin/mpiexec", "lib/tpsl/host"}},
		contests: scaleContests,
		cores:    1,
	})
	for kind, measure := range map[string]func(*meter) error{"Exchange": measureExchange, "Start": measureStart, "Peers": measurePeers} {
		register(bench{name: kind, about: "a side of Scale", measure: measure, cores: 1})
	}
}

const (
	scaleLimit = 5 * time.Minute
	fewTurns   = 3 // of jobs that take a minute
	manyHere   = 256
)

// A layout is how many processes a job has: on this host, or one on each of so many that this host plays.
type layout struct {
	key    string
	number int
}

func (l layout) String() string { return fmt.Sprintf("%s=%d", l.key, l.number) }

// mpiexec returns how a command begins that starts a job of this layout.
func (l layout) mpiexec() []string {
	command := []string{"bin/mpiexec", "-n", strconv.Itoa(l.number)}
	if l.key == "hosts" {
		names := make([]string, l.number)
		for i := range names {
			names[i] = fmt.Sprintf("127.0.%d.%d", 1+i/250, 1+i%250)
		}
		command = append(command, "-launcher", "fork", "-fanout", "32", "-hosts", strings.Join(names, ","))
	}
	return command
}

func layouts(quick bool) (all []layout) {
	processes, hosts := []int{8, 16, 32, 64, 128, 256}, []int{8, 16, 32, 64, 128}
	if quick {
		processes, hosts = []int{4, 8}, []int{2}
	}
	for _, n := range processes {
		all = append(all, layout{"processes", n})
	}
	for _, n := range hosts {
		all = append(all, layout{"hosts", n})
	}
	return all
}

// scaleContests has for each layout a job that does nothing, one that exchanges addresses by the launcher, and one of the engine on one
// host: hosts that this host plays are one host to it.
func scaleContests(p plan) (all []turns.Contest) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	for _, l := range layouts(p.quick) {
		c := turns.Contest{Limit: scaleLimit, Sides: []turns.Side{{Job: "Launch/" + l.String(), Argv: append(l.mpiexec(), "true")}}}
		if l.number >= manyHere {
			c.Turns = fewTurns
		}
		kinds := []string{"Exchange", "Start"}
		if l.key == "hosts" {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			name := kind + "/" + l.String()
			c.Sides = append(c.Sides, turns.Side{Name: "Scale/" + name, Argv: append(l.mpiexec(), self, "-measure", name)})
		}
		all = append(all, c)
	}
	peers := turns.Contest{Limit: scaleLimit}
	for _, n := range []int{1000, 10_000, 100_000} {
		name := fmt.Sprintf("Peers/processes=%d", n)
		peers.Sides = append(peers.Sides, turns.Side{Name: "Scale/" + name, Argv: []string{self, "-measure", name}})
	}
	return append(all, peers)
}

// measureExchange does by PMI what the engine does to learn where all processes are: each puts one value and gets those of all.
func measureExchange(m *meter) (err error) {
	numbers := map[string]int{"PMI_FD": 0, "PMI_RANK": 0, "PMI_SIZE": 0}
	for name := range numbers {
		if numbers[name], err = strconv.Atoi(os.Getenv(name)); err != nil {
			return fmt.Errorf("not started by mpiexec: %w", err)
		}
	}
	rank, size := numbers["PMI_RANK"], numbers["PMI_SIZE"]
	connection := os.NewFile(uintptr(numbers["PMI_FD"]), "PMI_FD")
	defer connection.Close()
	client := pmi.NewClient(connection)
	if err := errors.Join(client.Init(), client.Barrier()); err != nil {
		return err
	}
	begin := time.Now()
	if err := errors.Join(client.Put(strconv.Itoa(rank), strings.Repeat("x", 100)), client.Barrier()); err != nil {
		return err
	}
	for peer := range size {
		if _, err := client.Get(strconv.Itoa(peer)); err != nil {
			return err
		}
	}
	took := time.Since(begin)
	if err := errors.Join(client.Put("took-"+strconv.Itoa(rank), strconv.FormatInt(took.Microseconds(), 10)), client.Barrier()); err != nil {
		return err
	}
	slowest := 0
	for peer := 0; rank == 0 && peer < size; peer++ {
		text, err := client.Get("took-" + strconv.Itoa(peer))
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		slowest = max(slowest, n)
	}
	if rank == 0 {
		m.print(1, float64(slowest)/1e3, "ms/job")
	}
	return client.Finalize()
}

// What a process tells rank 0 of itself.
type account struct {
	StartMicroseconds, AnonKB, SharedKB uint64
}

// measureStart starts the engine, sends a message around the ring, and sums up how long the slowest process took to start and what
// memory they have.
func measureStart(m *meter) error {
	ctx, cancel := context.WithTimeout(context.Background(), scaleLimit)
	defer cancel()
	begin := time.Now()
	j, err := job.Start(ctx, engine.Options{})
	if err != nil {
		return err
	}
	own := account{StartMicroseconds: uint64(time.Since(begin).Microseconds())}
	return errors.Join(m.gather(j, own), j.Close())
}

func (m *meter) gather(j *job.Job, own account) (err error) {
	const ring, toFirst = 1, 2
	port, size := j.Fabric.Port(j.First), j.Fabric.Size()
	next, before := (j.First+1)%size, (j.First+size-1)%size
	if err := port.Send([]byte{1}, engine.Envelope{Peer: int32(next), Tag: ring}); err != nil {
		return err
	}
	if _, err := port.Recv(make([]byte, 1), engine.Envelope{Peer: int32(before), Tag: ring}); err != nil {
		return err
	}
	if own.AnonKB, own.SharedKB, err = residentKB(); err != nil {
		return err
	}
	if j.First != 0 {
		b, err := binary.Append(nil, binary.LittleEndian, own)
		if err != nil {
			return err
		}
		return port.Send(b, engine.Envelope{Peer: 0, Tag: toFirst})
	}
	slowest, anon, shared := own.StartMicroseconds, own.AnonKB, own.SharedKB
	for peer := 1; peer < size; peer++ {
		var a account
		b := make([]byte, binary.Size(a))
		if _, err := port.Recv(b, engine.Envelope{Peer: int32(peer), Tag: toFirst}); err != nil {
			return err
		}
		if _, err := binary.Decode(b, binary.LittleEndian, &a); err != nil {
			return err
		}
		slowest, anon, shared = max(slowest, a.StartMicroseconds), anon+a.AnonKB, shared+a.SharedKB
	}
	m.print(1, float64(slowest)/1e3, "ms/job")
	m.printAs("Private", 1, float64(anon)/float64(size), "KB/process")
	m.printAs("Mapped", 1, float64(shared)/float64(size), "KB/process")
	return nil
}

// measurePeers makes a process's part of a node of so many processes over TCP, none of which it connects to.
func measurePeers(m *meter) error {
	count, ok := m.side.Number("processes")
	if !ok || count < 2 {
		return errors.New("processes: want a number from 2")
	}
	listener, err := tcp.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	peers := make([]tcp.Peer, int(count))
	for i := range peers {
		peers[i] = tcp.Peer{First: i, Ports: 1, Address: listener.Addr().String()}
	}
	before, begin := heapBytes(), time.Now()
	n, err := tcp.Join(context.Background(), listener, tcp.Options{Peers: peers})
	if err != nil {
		return err
	}
	took := time.Since(begin)
	m.print(1, float64(took.Microseconds())/1e3, "ms/node")
	m.printAs("Links", 1, float64(heapBytes()-before)/count, "B/peer")
	return n.Close()
}

// heapBytes returns how much memory this process has in use.
func heapBytes() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// residentKB returns how much memory of its own, and of memory that it shares, this process has touched.
func residentKB() (anon, shared uint64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		for name, n := range map[string]*uint64{"RssAnon:": &anon, "RssShmem:": &shared} {
			if value, ok := strings.CutPrefix(line, name); ok {
				if _, err := fmt.Sscan(value, n); err != nil {
					return 0, 0, fmt.Errorf("/proc/self/status: %q: %w", line, err)
				}
			}
		}
	}
	return anon, shared, nil
}
