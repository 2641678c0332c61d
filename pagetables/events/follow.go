// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64

package events

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Follow implements Source. It has the kernel list all threads, once.
func (k *Kernel) Follow(threads, others []Thread) error {
	tasks, err := k.tasks()
	if err != nil {
		return err
	}
	if err := each(tasks, threads, k.follow); err != nil {
		return err
	}
	return each(tasks, others, k.adopt)
}

// each calls do with what the kernel knows of each thread.
func each(tasks map[int32]task, threads []Thread, do func(task task, owner int32) error) error {
	for _, thread := range threads {
		task, alive := tasks[int32(thread.ID)]
		if !alive {
			continue
		}
		if err := do(task, int32(thread.Owner)); err != nil {
			return fmt.Errorf("follow thread %d: %w", thread.ID, err)
		}
	}
	return nil
}

// follow keeps for the former owner what was counted for it.
func (k *Kernel) follow(t task, owner int32) error {
	table := k.running.Maps[kernelMapThreads]
	var known kernelThread
	now := clock()
	err := table.Lookup(t.own, &known)
	if err == nil && known.Owner == owner {
		return nil
	}
	if err == nil {
		err = table.LookupAndDelete(t.own, &known)
	}
	if err == nil {
		k.moved.add(int(known.Owner), k.counts(&known, now))
	} else if !errors.Is(err, ebpf.ErrKeyNotExist) {
		return err
	}
	return k.adopt(t, owner)
}

// adopt counts from now on; a thread that sleeps has left its CPU now.
func (k *Kernel) adopt(t task, owner int32) error {
	thread := kernelThread{Owner: owner}
	if t.asleep {
		thread.Left = clock()
	}
	err := k.running.Maps[kernelMapThreads].Update(t.own, &thread, ebpf.UpdateNoExist)
	if errors.Is(err, ebpf.ErrKeyExist) {
		return nil
	}
	return err
}

// clock is the clock of the programs: bpf_ktime_get_ns.
func clock() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // it fails only for wrong arguments
	}
	return uint64(now.Nano())
}
