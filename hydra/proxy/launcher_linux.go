// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// onLaunchThread runs start on a thread that lives as long as the proxy: PR_SET_PDEATHSIG fires when the thread that
// forked ends, not the process (prctl(2)). The thread's CPU mask is that of the processes it starts.
func onLaunchThread(start func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- start()
		select {}
	}()
	return <-done
}

// forkExec starts the process in a session of its own, with descriptors 0, 1, 2... as given. A script without #! is run by sh, as execvp(3) does.
// Preconditions: on the launch thread.
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
		restore, err := bindThread(s.cpus)
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	if s.memory != nil {
		restore, err := s.memory.bind()
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	p.group.Attributes(attr.Sys)
	pid, err := execOrScript(s, attr)
	if err != nil && attr.Sys.UseCgroupFD { // this may be why: rights are odd, or the kernel is before Linux 5.7
		attr.Sys.UseCgroupFD = false
		if pid, err = execOrScript(s, attr); err == nil {
			p.group.Remove()
			p.group = nil
		}
	}
	return pid, err
}

func execOrScript(s start, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(s.path, s.args, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		args := append([]string{"/bin/sh", s.path}, s.args[1:]...)
		pid, err = syscall.ForkExec(args[0], args, attr)
	}
	return pid, err
}

// bindThread sets the calling thread's CPU mask and returns a function that sets the old one again.
// Preconditions: the goroutine is locked to its thread.
func bindThread(cpus []int) (restore func(), err error) {
	before, wanted := unix.NewCPUSet(maxCPUs), unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
		return nil, fmt.Errorf("read CPU mask: %w", err)
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinityDynamic(0, wanted); err != nil {
		return nil, fmt.Errorf("bind to CPUs %v: %w", cpus, err)
	}
	return func() { _ = unix.SchedSetaffinityDynamic(0, before) }, nil // it was valid a moment ago
}
