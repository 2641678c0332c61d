// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// handleSignals collects children at SIGCHLD. A signal that would end the proxy ends the job.
func (p *proxy) handleSignals(signals <-chan os.Signal) {
	for sig := range signals {
		switch sig {
		case unix.SIGCHLD:
			p.reap()
		case unix.SIGTERM, unix.SIGQUIT, unix.SIGINT, unix.SIGHUP:
			p.conn.Send(channel.Failed, 0, fmt.Appendf(nil, "proxy ended by signal: %v", sig))
			p.end()
		}
	}
}

// signalAll signals the process group of every rank set that still runs.
func (p *proxy) signalAll(sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		p.early = append(p.early, sig)
	}
	for _, proc := range p.byPID {
		p.signal(proc, sig)
	}
}

// signal signals the process group of a rank set.
func (p *proxy) signal(proc *process, sig unix.Signal) {
	debugged := plan.Debugged(p.host.Tools)
	if sig != unix.SIGINT || len(debugged) == 0 || debugged.HoldAny(proc.set.Ranks) {
		_ = unix.Kill(-proc.pid, sig) // a zombie's group may be gone already
	}
}
