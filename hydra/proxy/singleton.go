// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A singleton is a process that the proxy did not start. It was started alone and waits for a PMI server on a port of its own.
type singleton struct {
	conn net.Conn
	pid  int
}

// adopt serves the process that -pmi_args names.
func (p *proxy) adopt() error {
	args := p.host.PMI.Singleton // port, interface, key, process
	conn, err := net.DialTimeout("tcp4", net.JoinHostPort("127.0.0.1", args[0]), identifyLimit)
	if err != nil {
		return fmt.Errorf("connect to process %s: %w", args[3], err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(identifyLimit)) // fails only on a closed connection
	serve, err := p.server.Singleton(conn)
	if err == nil {
		err = checkOwner(conn)
	}
	if err != nil {
		conn.Close()
		return fmt.Errorf("connect to process %s: %w", args[3], err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	proc := newProcess(p.host.Sets[0], 0)
	proc.pid, _ = strconv.Atoi(args[3]) // if it is no number, the process is not killed at the end of the job
	p.mu.Lock()
	defer p.mu.Unlock()
	p.single = &singleton{conn, proc.pid}
	p.processes = append(p.processes, proc)
	p.running.Add(1)
	go func() {
		serve()
		p.leave(proc)
	}()
	return nil
}

// leave reports the end of the session as that of the process: the proxy cannot wait for a process that is not its child.
func (p *proxy) leave(proc *process) {
	p.mu.Lock()
	p.single = nil
	p.mu.Unlock()
	close(proc.left[0])
	close(proc.quiet)
	close(proc.ended)
	p.reportExit(proc)
}

// end kills the process. Preconditions: p.mu is held.
func (s *singleton) end() {
	if s.pid > 1 {
		_ = unix.Kill(s.pid, unix.SIGKILL) // it may be gone
	}
	s.conn.Close()
}
