// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"runtime"
	"syscall"

	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
)

// onLaunchThread runs start on a thread that lives as long as the proxy. PR_SET_PDEATHSIG fires when the thread that forked ends,
// not when its process does (prctl(2)). What the thread starts inherits its CPU mask.
func onLaunchThread(start func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- start()
		select {}
	}()
	return <-done
}

// forkExec starts the process in a session of its own, with descriptors 0, 1, 2... as given. A script without #! is run by
// sh, as execvp(3) does. Preconditions: on the launch thread; p.mu is held, unless p has no group.
func (p *proxy) forkExec(s start, fds []int) (int, error) {
	attr := &syscall.ProcAttr{
		Dir: s.dir,
		Env: s.env,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	for _, fd := range fds {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	if s.cpus != nil {
		restore, err := hardware.BindThread(s.cpus)
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	if s.memory != nil {
		restore, err := s.memory.Bind()
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	p.group.Attributes(attr.Sys)
	pid, err := execOrScript(s, attr)
	// The control group may be why: its rights are odd, or the kernel is older than Linux 5.7. It is not where a set has started in it.
	if err != nil && attr.Sys.UseCgroupFD && len(p.processes) == 0 {
		attr.Sys.UseCgroupFD = false
		if pid, err = execOrScript(s, attr); err == nil {
			p.group.Remove()
			p.group = nil
		}
	}
	if err != nil {
		return 0, executable.WhyNotRun(s.path, s.dir, err)
	}
	return pid, nil
}

func execOrScript(s start, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(s.path, s.args, attr)
	if errors.Is(err, syscall.ENOEXEC) && !executable.IsELF(s.path) {
		args := append([]string{"/bin/sh", s.path}, s.args[1:]...)
		pid, err = syscall.ForkExec(args[0], args, attr)
	}
	return pid, err
}
