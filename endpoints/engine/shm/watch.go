// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A watch waits for the end of peers.
type watch struct {
	stop *os.File // an eventfd
	done chan struct{}
}

func (n *Node) startWatch() error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	n.watch = watch{stop: os.NewFile(uintptr(fd), "eventfd"), done: make(chan struct{})}
	go n.watchPeers()
	return nil
}

func (n *Node) stopWatch() {
	one := [8]byte{1} // little-endian, as all that this project runs on
	_, _ = n.watch.stop.Write(one[:])
	<-n.watch.done
	n.watch.stop.Close()
}

// watchPeers sleeps in poll until a peer's pidfd becomes readable, as it does when
// the whole process has ended, reaped or not.
func (n *Node) watchPeers() {
	defer close(n.watch.done)
	fds := []unix.PollFd{{Fd: int32(n.watch.stop.Fd()), Events: unix.POLLIN}}
	process := []int{-1}
	for i := range n.peers {
		if p := &n.peers[i]; p.pidfd != nil {
			fds = append(fds, unix.PollFd{Fd: int32(p.pidfd.Fd()), Events: unix.POLLIN})
			process = append(process, i)
		}
	}
	for fds[0].Revents == 0 {
		if _, err := unix.Poll(fds, -1); err != nil {
			if !errors.Is(err, unix.EINTR) {
				time.Sleep(10 * time.Millisecond) // the kernel has no memory now
			}
			continue
		}
		for i := 1; i < len(fds); i++ {
			if fds[i].Revents != 0 {
				fds[i].Fd = -1 // poll(2) passes it over
				n.condemn(process[i], ended)
			}
		}
	}
}
