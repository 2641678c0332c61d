// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
)

// A crowd in two processes: the first half of the threads in the one that measures, the second in one
// that it starts, which is told by partVariable how many threads and rounds there are.
const partVariable = "BENCH_ENGINE_SECOND_PART"

// withSecondPart is the first process.
func (c *crowd) withSecondPart(m *meter) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sockets := make([]*os.File, 4)
	for i := range 2 {
		var err error
		if sockets[i], sockets[2+i], err = shm.Socketpair(); err != nil {
			return err
		}
		defer sockets[i].Close()
		defer sockets[2+i].Close()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	second := exec.CommandContext(ctx, self, "-measure", m.side.String())
	second.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", partVariable, c.n, c.rounds))
	second.Stderr, second.ExtraFiles = os.Stderr, sockets[3:]
	if err := second.Start(); err != nil {
		return err
	}
	met := make(chan error, 1)
	go func() { met <- shm.Meet(ctx, sockets[:2]) }()
	err = c.part(ctx, m, sockets[2], 0)
	if err := <-met; err != nil {
		return err
	}
	if ended := second.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("the second process: %w", ended)
	}
	return err
}

// secondPart is the second process.
func (m *meter) secondPart(told string) error {
	c := &crowd{shape: m.side.Get("shape"), workers: make([]*fult.Worker, 2)}
	if _, err := fmt.Sscan(told, &c.n, &c.rounds); err != nil {
		return fmt.Errorf("%s=%s: %w", partVariable, told, err)
	}
	const socket = 3 // the first of ExtraFiles
	return c.part(context.Background(), m, os.NewFile(socket, "socket"), 1)
}

// part runs the threads of one process, which has one port.
func (c *crowd) part(ctx context.Context, m *meter, socket *os.File, port int) error {
	node, err := shm.Join(ctx, socket, shm.Options{First: port, Ports: 1, Total: 2})
	if err != nil {
		return err
	}
	defer node.Close()
	w := c.worker(m, port)
	if err := c.byMessages(engine.Options{Carrier: node}); err != nil {
		return err
	}
	return c.talkAll([]*fult.Worker{w})
}
