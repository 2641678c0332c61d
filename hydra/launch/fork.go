// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Fork starts proxies on this machine by running this program again.
type Fork struct{}

// Start implements Launcher. The proxy gets a session of its own, so that the terminal's signals reach only mpiexec.
func (Fork) Start(host Host) (Remote, error) {
	cmd := exec.Command("/proc/self/exe", ProxyArg)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return start(cmd, host)
}

func start(cmd *exec.Cmd, host Host) (Remote, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	return Remote{In: in, Out: out, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }}, nil
}
