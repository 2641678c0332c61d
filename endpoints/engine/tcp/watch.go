// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A watch looks after connections for ports that sleep, and for links whose sockets had no
// room: then its thread waits for the sockets and moves them on, in place of
// a port that polls. While nobody wants that, it leaves the sockets alone, so
// that a message to a port that polls wakes no other thread.
type watch struct {
	epoll  int
	call   int          // an eventfd: look again at what is wanted
	wanted atomic.Int32 // ports and links
	armed  atomic.Bool  // the thread waits for the sockets too, or will look at wanted before it waits
	over   atomic.Bool
	done   chan struct{}
}

func (w *watch) start(progress func()) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	call, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(epoll)
		return err
	}
	w.epoll, w.call, w.done = epoll, call, make(chan struct{})
	go w.run(progress)
	return nil
}

// stop ends the thread.
func (w *watch) stop() {
	w.over.Store(true)
	w.rouse()
	<-w.done
}

// close ends the rest, when there are no sockets any more.
func (w *watch) close() {
	_ = unix.Close(w.call)
	_ = unix.Close(w.epoll)
}

func (w *watch) rouse() {
	one := [8]byte{1} // little-endian, as all that this project runs on
	_, _ = unix.Write(w.call, one[:])
}

// want has the sockets watched until unwant is called as often.
//
// Either the thread sees the new count before it leaves the sockets alone, or this sees that it has left them.
func (w *watch) want() {
	w.wanted.Add(1)
	if !w.armed.Load() {
		w.rouse()
	}
}

func (w *watch) unwant() { w.wanted.Add(-1) }

func (w *watch) run(progress func()) {
	defer close(w.done)
	fds := []unix.PollFd{{Fd: int32(w.call), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}}
	for !w.over.Load() {
		fds[1].Fd = -1 // poll(2) passes it over
		w.armed.Store(false)
		if w.wanted.Load() > 0 {
			w.armed.Store(true)
			fds[1].Fd = int32(w.epoll)
		}
		if _, err := unix.Poll(fds, -1); err != nil {
			if !errors.Is(err, unix.EINTR) {
				time.Sleep(10 * time.Millisecond) // the kernel has no memory now
			}
			continue
		}
		if fds[0].Revents != 0 {
			var count [8]byte
			_, _ = unix.Read(int(fds[0].Fd), count[:])
		}
		if fds[1].Fd >= 0 && fds[1].Revents != 0 {
			progress()
		}
	}
}

// add has a link's new socket watched for what comes. About says which of its sockets it is.
func (w *watch) add(socket, link int, about int32) error {
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, socket, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(link), Pad: about})
}

// interest has it watched for room to write too, or no more.
func (w *watch) interest(socket, link int, about int32, room bool) {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(link), Pad: about}
	if room {
		e.Events |= unix.EPOLLOUT
	}
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_MOD, socket, &e)
}
