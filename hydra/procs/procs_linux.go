// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// strangers are the children, by PID with their Birth, that this process already had: those of a shell that became it by exec,
// as in `helper & exec mpiexec`, or that a shell made for it, as in `mpiexec > >(tee file)`.
var strangers = map[int]string{}

// SetSubreaper makes this process the parent of its orphaned descendants (prctl(2), PR_SET_CHILD_SUBREAPER). Call it before
// anything is started: children that there are already do not belong to the job.
func SetSubreaper() error {
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); !errors.Is(err, unix.ECHILD) {
		for child, parent := range parents() {
			if parent == os.Getpid() {
				strangers[child] = Birth(child)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// CloseOnExec makes every open descriptor except 0, 1 and 2 close-on-exec, so that programs started later do not get them.
func CloseOnExec() error {
	err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	fds, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, entry := range fds {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// Reap collects ended children without waiting and passes each to ended. It reports whether any child is left.
func Reap(ended func(pid int, status unix.WaitStatus)) bool {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false // ECHILD
		case pid == 0:
			return true
		default:
			ended(pid, status)
		}
	}
}

// Sweep kills every descendant until there is none left or the limit is over, as insist counts it, but no stranger and nothing below
// one. It reports whether all are gone. reap must collect ended children and report whether any child is left.
func Sweep(reap func() bool, limit time.Duration) bool {
	return sweep(reap, limit, func(all []int) []int { return all })
}

// SweepSparing is like Sweep, but some descendants are to end by themselves: those that spare chooses, and all below them. Until the
// limit is over it kills only the others. Then it kills all, and waits as long again.
func SweepSparing(reap func() bool, limit time.Duration, spare func(pid int) bool) bool {
	sweep(reap, limit, func(all []int) []int {
		spared := slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return !spare(pid) })
		spared = append(spared, descendants(spared...)...)
		return slices.DeleteFunc(all, func(pid int) bool { return slices.Contains(spared, pid) })
	})
	return Sweep(reap, limit)
}

// sweep kills those of the descendants that chosen returns until there is no descendant left or the limit is over.
func sweep(reap func() bool, limit time.Duration, chosen func(all []int) []int) bool {
	return insist(limit, func() bool {
		if !reap() {
			return true
		}
		left := descendants(os.Getpid())
		none := len(left) == 0 // only strangers
		for _, pid := range chosen(left) {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended meanwhile
		}
		return none
	})
}

// insist tries something again and again, with growing pauses between, until it is done or the pauses add up to the limit. It
// reports whether it was done. It counts pauses and not time: while this process is stopped or gets no processor, what it waits for
// may get none either.
func insist(limit time.Duration, try func() bool) bool {
	for pause := time.Millisecond; !try(); pause = min(2*pause, 50*time.Millisecond) {
		if limit <= 0 {
			return false
		}
		time.Sleep(pause)
		limit -= pause
	}
	return true
}

// descendants lists the processes below those of these PIDs, zombies among them, but no stranger and nothing below one.
func descendants(pids ...int) (found []int) {
	children := map[int][]int{}
	for child, parent := range parents() {
		children[parent] = append(children[parent], child)
	}
	for next := slices.Clone(pids); len(next) > 0; next = next[1:] {
		for _, child := range children[next[0]] {
			if birth, known := strangers[child]; !known || birth != Birth(child) {
				found, next = append(found, child), append(next, child)
			}
		}
	}
	return found
}

// parents has the parent of each process.
func parents() map[int]int {
	all := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := stat(pid); len(fields) > 1 {
			all[pid], _ = strconv.Atoi(fields[1])
		}
	}
	return all
}

// Tell sends a signal to those of the processes, and of their descendants, that have a handler for it. Others it might end.
func Tell(sig unix.Signal, pids ...int) {
	for _, pid := range slices.Concat(pids, descendants(pids...)) {
		if hasSignal(pid, sig, "SigCgt") {
			_ = unix.Kill(pid, sig)
		}
	}
}

// Parent returns the parent of a process that is not a zombie.
func Parent(pid int) (parent int, alive bool) {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil && fields[0] != "Z"
}

// Dying reports whether a process is about to end by itself, or by a SIGKILL that it has got already. It is then exiting, a
// zombie, or gone.
func Dying(pid int) bool {
	const state, flags = 0, 9 - 3 // fields 3 and 9
	const exiting = 0x4           // PF_EXITING
	fields := stat(pid)
	if len(fields) <= flags || fields[state] == "Z" || fields[state] == "X" {
		return true
	}
	bits, _ := strconv.ParseUint(fields[flags], 10, 32)
	return bits&exiting != 0 || hasSignal(pid, unix.SIGKILL, "SigPnd", "ShdPnd")
}

// hasSignal reports whether one of these sets of a process's signals has a signal (proc(5), status).
func hasSignal(pid int, sig unix.Signal, sets ...string) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if name, set, _ := strings.Cut(line, ":"); slices.Contains(sets, name) {
			if bits, _ := strconv.ParseUint(strings.TrimSpace(set), 16, 64); bits&(1<<(sig-1)) != 0 {
				return true
			}
		}
	}
	return false
}

// Birth returns the ticks between boot and the start of a process. They distinguish the process from later processes with the same
// pid. The result is empty if /proc hides processes of other users.
func Birth(pid int) string {
	const starttime = 22 - 3
	if fields := stat(pid); len(fields) > starttime {
		return fields[starttime]
	}
	return ""
}

// stat returns the fields of /proc/PID/stat (proc(5)) from the third field on, which is the state. The command before it may
// contain any characters.
func stat(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
}
