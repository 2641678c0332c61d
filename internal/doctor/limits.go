// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/process/limits"
)

func lookAtLimits() Limits {
	l := Limits{
		MaxMapCount:       number(read("/proc/sys/vm/max_map_count")),
		CorePattern:       read("/proc/sys/kernel/core_pattern"),
		ShmSize:           Unknown,
		ShmFree:           Unknown,
		PtraceScope:       number(read("/proc/sys/kernel/yama/ptrace_scope")),
		Seccomp:           number(field(read("/proc/self/status"), "Seccomp:")),
		PerfEventParanoid: signed(read("/proc/sys/kernel/perf_event_paranoid")),
	}
	var shm unix.Statfs_t
	if unix.Statfs("/dev/shm", &shm) == nil {
		l.ShmSize, l.ShmFree = Limit(shm.Blocks)*Limit(shm.Bsize), Limit(shm.Bavail)*Limit(shm.Bsize)
	}
	l.ofChild()
	l.RanksByFiles = ranks(limits.Files, l.FilesHard)
	l.RanksByMaps = ranks(limits.Maps, l.MaxMapCount)
	l.RanksByAddress = ranks(limits.Address, l.AddressSpace.mib())
	l.RanksByShm = ranks(limits.Shm, l.ShmFree.mib())
	return l
}

// signed reads perf_event_paranoid, which may be -1; there as little is forbidden as
// at 0.
func signed(text string) Limit {
	n, err := strconv.Atoi(text)
	if err != nil {
		return Unknown
	}
	return Limit(max(n, 0))
}

// ranks returns how many a limit allows.
func ranks(r limits.Resource, limit Limit) Limit {
	if limit < 0 {
		return limit
	}
	return Limit(r.Ranks(uint64(limit)))
}

// ofChild looks at what a program gets that is started from here: this process's own
// limit of files was raised by the Go runtime when it started.
func (l *Limits) ofChild() {
	unknown := func(err error) {
		l.FilesSoft, l.FilesHard, l.AddressSpace, l.LockedMemory, l.Core = Unknown, Unknown, Unknown, Unknown, Unknown
		l.CrossMemory = crossMemoryNotTried + err.Error()
	}
	child := exec.Command("cat") // reads its input until that is closed
	input, err := child.StdinPipe()
	if err != nil {
		unknown(err)
		return
	}
	if err := child.Start(); err != nil {
		unknown(err)
		return
	}
	table := read(fmt.Sprintf("/proc/%d/limits", child.Process.Pid))
	l.FilesSoft, l.FilesHard = limitOf(table, "Max open files")
	l.AddressSpace, _ = limitOf(table, "Max address space")
	l.LockedMemory, _ = limitOf(table, "Max locked memory")
	l.Core, _ = limitOf(table, "Max core file size")
	l.CrossMemory = crossMemoryWorks
	if err := readMemory(child.Process.Pid); err != nil {
		l.CrossMemory = err.Error()
	}
	_ = input.Close()
	_ = child.Wait()
}

// limitOf returns the soft and the hard limit of a line of proc_pid_limits(5).
func limitOf(table, name string) (soft, hard Limit) {
	f := strings.Fields(field(table, name))
	if len(f) < 2 {
		return Unknown, Unknown
	}
	return number(f[0]), number(f[1])
}

// readMemory reads the first bytes of a process's program with process_vm_readv, as
// UCX and MPICH read messages of other ranks.
func readMemory(pid int) error {
	maps := read(fmt.Sprintf("/proc/%d/maps", pid))
	first, _, _ := strings.Cut(maps, "-")
	address, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return errors.New(crossMemoryNotTried + "the child's mappings cannot be read")
	}
	magic := make([]byte, 4)
	local := []unix.Iovec{{Base: &magic[0], Len: uint64(len(magic))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(magic)}}, 0)
	switch {
	case err != nil:
		return os.NewSyscallError("process_vm_readv", err)
	case n != len(magic) || string(magic) != "\x7fELF":
		return fmt.Errorf("process_vm_readv returned %d bytes, %q", n, magic)
	}
	return nil
}
