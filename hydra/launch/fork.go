// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Fork starts proxies on this machine by running this program again.
type Fork struct {
	proxies atomic.Int32 // the number of proxies that run on this machine at the same time
}

// Expect implements expecter.
func (f *Fork) Expect(hosts []Host) error {
	f.proxies.Store(int32(len(hosts)))
	return nil
}

// Start implements Launcher. The proxy gets a session of its own, so that the terminal's signals reach only mpiexec.
func (f *Fork) Start(host Host) (Remote, error) {
	remote, err := f.fork()
	if errors.Is(err, unix.EMFILE) {
		err = fmt.Errorf("%w; raise the limit of descriptors (ulimit -n)", err)
	}
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	return remote, nil
}

func (f *Fork) fork() (Remote, error) {
	in, out := [2]int{-1, -1}, [2]int{-1, -1}
	err := pipe(&in)
	if err == nil {
		err = pipe(&out)
	}
	if err != nil {
		closeAll(in[:], out[:])
		return Remote{}, err
	}
	proxy, err := f.forkSelf(in[0], out[1])
	if err != nil {
		closeAll(in[:], out[:])
		return Remote{}, err
	}
	closeAll(in[:1], out[1:])
	toProxy, fromProxy := os.NewFile(uintptr(in[1]), "pipe to proxy"), os.NewFile(uintptr(out[0]), "pipe from proxy")
	wait := func() error {
		defer toProxy.Close()
		defer fromProxy.Close()
		state, err := proxy.Wait()
		if err == nil && !state.Success() {
			err = &exec.ExitError{ProcessState: state}
		}
		return err
	}
	return Remote{In: toProxy, Out: fromProxy, Wait: wait, Kill: func() { _ = proxy.Kill() }}, nil
}

// pipe makes a pipe whose ends do not block a thread. A proxy may have only one processor, which would wait together with the thread.
func pipe(fds *[2]int) error {
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	return nil
}

func closeAll(lists ...[]int) {
	for _, fd := range slices.Concat(lists...) {
		_ = unix.Close(fd) // EBADF for a descriptor that was not opened
	}
}

// forkSelf gives each proxy its part of the processors. With more threads, many proxies on one machine would disturb each other.
// When the job lasts longer, its proxy uses Go's default.
func (f *Fork) forkSelf(in, out int) (*os.Process, error) {
	part := max(1, runtime.NumCPU()/max(1, int(f.proxies.Load())))
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], ProxyArg}, &syscall.ProcAttr{
		Env:   append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", part)),
		Files: []uintptr{uintptr(in), uintptr(out), 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	return os.FindProcess(pid)
}
