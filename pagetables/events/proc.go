// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Proc counts what /proc tells of one's own processes: switches, page faults, time off the CPU. It
// follows no thread by itself. Of one that ended it knows what the last Read saw.
type Proc struct {
	fs      procfs.FS
	threads map[int]*followed
	before  *Snapshot // what threads did for former owners, or before they ended
}

// followed is a thread and what it has done for its owner.
type followed struct {
	owner int
	began reading
	done  Counts
}

// reading is what a thread has done in its whole life.
type reading struct {
	time   time.Time
	counts Counts
	onCPU  uint64 // ns
	born   uint64 // tells it from a later thread of the same number
}

// FromProc counts from a proc filesystem, or a recorded tree of one: "/proc".
func FromProc(root string) (*Proc, error) {
	files, err := procfs.NewFS(root)
	if err != nil {
		return nil, err
	}
	return &Proc{files, map[int]*followed{}, newSnapshot()}, nil
}

// Absent implements Source.
func (p *Proc) Absent() []Figure { return []Figure{Syscalls, FutexWaits, FutexTime, Migrations} }

// Name implements Source: /proc does not tell what a fault was about.
func (p *Proc) Name(File, string) error { return nil }

// Close implements Source.
func (p *Proc) Close() error { return nil }

// Follow implements Source.
func (p *Proc) Follow(threads, others []Thread) error {
	for _, thread := range threads {
		known := p.threads[thread.ID]
		if known == nil || known.owner == thread.Owner {
			continue
		}
		if err := p.update(thread.ID, known); err != nil && !gone(err) {
			return err
		}
		p.forget(thread.ID, known)
	}
	return errors.Join(p.adopt(threads), p.adopt(others))
}

// adopt begins to count threads that nobody follows.
func (p *Proc) adopt(threads []Thread) error {
	for _, thread := range threads {
		if p.threads[thread.ID] != nil {
			continue
		}
		now, err := p.read(thread.ID)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		p.threads[thread.ID] = &followed{owner: thread.Owner, began: now}
	}
	return nil
}

// Read implements Source.
func (p *Proc) Read() (*Snapshot, error) {
	s := newSnapshot()
	for _, id := range slices.Sorted(maps.Keys(p.threads)) {
		thread := p.threads[id]
		err := p.update(id, thread)
		if gone(err) {
			p.forget(id, thread)
			continue
		}
		if err != nil {
			return nil, err
		}
		s.Threads[Thread{id, thread.owner}] = thread.done
		s.add(thread.owner, thread.done)
	}
	for owner, c := range p.before.Owners {
		s.add(owner, c)
	}
	return s, nil
}

// forget keeps what a thread has done, and no more.
func (p *Proc) forget(id int, thread *followed) {
	p.before.add(thread.owner, thread.done)
	delete(p.threads, id)
}

// update reads what a thread has done since it is followed.
func (p *Proc) update(id int, thread *followed) error {
	now, err := p.read(id)
	if err != nil {
		return err
	}
	if now.born != thread.began.born {
		return fmt.Errorf("thread %d: %w", id, unix.ESRCH)
	}
	thread.done = now.counts.Since(thread.began.counts)
	on, all := now.onCPU-thread.began.onCPU, uint64(now.time.Sub(thread.began.time))
	thread.done[OffCPU] = all - min(on, all)
	return nil
}

func (p *Proc) read(id int) (reading, error) {
	r := reading{time: time.Now()}
	thread, err := p.fs.Thread(id, id)
	if err != nil {
		return r, fmt.Errorf("thread %d: %w", id, err)
	}
	stat, err1 := thread.Stat()
	status, err2 := thread.NewStatus()
	sched, err3 := thread.Schedstat()
	if err := errors.Join(err1, err2, err3); err != nil {
		return r, fmt.Errorf("thread %d: %w", id, err)
	}
	r.onCPU, r.born = sched.RunningNanoseconds, stat.Starttime
	r.counts = Counts{
		Voluntary:   status.VoluntaryCtxtSwitches,
		Involuntary: status.NonVoluntaryCtxtSwitches,
		Faults:      uint64(stat.MinFlt + stat.MajFlt),
	}
	return r, nil
}

// gone tells that a thread has ended.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }
