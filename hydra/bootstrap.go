// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A Bootstrap starts the proxy of a host, with the channel on its standard streams.
type Bootstrap interface {
	Start(host HostPlan) (Remote, error)
}

// A Remote is a proxy that a bootstrap has started.
type Remote struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() error // waits for its end, once; the error says how it ended if not well
	Kill func()
}

// ProxyArg is the argument that makes mpiexec a proxy. It cannot be an option.
const ProxyArg = "+proxy"

// Fork starts proxies on this machine by running this program again.
type Fork struct{}

// Start implements Bootstrap. The proxy gets a session of its own, so that the terminal's signals reach only mpiexec.
func (Fork) Start(host HostPlan) (Remote, error) {
	cmd := exec.Command("/proc/self/exe", ProxyArg)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Host, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Host, err)
	}
	if err := cmd.Start(); err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Host, err)
	}
	return Remote{In: in, Out: out, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }}, nil
}
