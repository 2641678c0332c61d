// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Watch looks after a file by which things come, for ports that sleep and for whatever else cannot
// wait: then its thread waits for the file and moves things on, in place of a port that polls. While nobody
// wants that, it leaves the file alone, so that what comes for a port that polls wakes no other thread.
type Watch struct {
	file     int
	arm      func()
	progress func()
	call     int          // an eventfd: look again at what is wanted
	wanted   atomic.Int32 // by so many
	armed    atomic.Bool  // the thread waits for the file too, or will look at wanted before it waits
	over     atomic.Bool
	done     chan struct{}
}

// Start begins to watch a file. When there is something to read, progress is called. Where a file must be asked to tell of
// things to come, arm does that, each time before the thread waits for it; else it is nil.
func (w *Watch) Start(file int, arm, progress func()) error {
	call, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	w.file, w.arm, w.progress, w.call, w.done = file, arm, progress, call, make(chan struct{})
	go w.run()
	return nil
}

// Stop ends the thread. The Watch may still be wanted, in vain.
func (w *Watch) Stop() {
	w.over.Store(true)
	w.rouse()
	<-w.done
}

// Close frees what is left.
//
// Preconditions: Stop has returned, and nobody calls Want any more.
func (w *Watch) Close() { _ = unix.Close(w.call) }

func (w *Watch) rouse() {
	one := [8]byte{1} // little-endian, as all that this project runs on
	_, _ = unix.Write(w.call, one[:])
}

// Want has the file watched until Unwant is called as often.
//
// Either the thread sees the new count before it leaves the file alone, or this sees that it has left it.
func (w *Watch) Want() {
	w.wanted.Add(1)
	if !w.armed.Load() {
		w.rouse()
	}
}

// Unwant takes a Want back.
func (w *Watch) Unwant() { w.wanted.Add(-1) }

// IsArmed tells whether the thread waits for the file.
func (w *Watch) IsArmed() bool { return w.armed.Load() }

func (w *Watch) run() {
	defer close(w.done)
	fds := []unix.PollFd{{Fd: int32(w.call), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}}
	for !w.over.Load() {
		fds[1].Fd = -1 // poll(2) passes it over
		w.armed.Store(false)
		if w.wanted.Load() > 0 {
			w.armed.Store(true)
			fds[1].Fd = int32(w.file)
			if w.arm != nil {
				w.arm()
			}
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
			w.progress()
		}
	}
}
