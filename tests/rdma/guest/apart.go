// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// setApart gives each guest a part of the CPUs that this process may use, if there is one for each. A guest's processors are threads beside
// the one that is its devices, and when they poll and share a CPU it depends on the scheduler's mood how long a message lies there.
// So they run while no other thread wants to.
func (g *Group) setApart() error {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	parts := split(all, len(g.machines))
	for i, m := range g.machines {
		if err := m.setApart(parts[i]); err != nil {
			return fmt.Errorf("guest %s: %w", m.name(), err)
		}
	}
	return nil
}

// split returns parts of CPUs that are alike in size, to the CPU. Where there are fewer CPUs than parts, each part is all of them.
func split(all unix.CPUSet, parts int) []unix.CPUSet {
	sets := make([]unix.CPUSet, parts)
	count, seen := all.Count(), 0
	for cpu := 0; seen < count; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		for part := range sets {
			if count < parts || seen*parts/count == part {
				sets[part].Set(cpu)
			}
		}
		seen++
	}
	return sets
}

// setApart is for all threads that QEMU has; later ones, which help its devices, inherit the CPUs.
func (m *machine) setApart(cpus unix.CPUSet) error {
	threads, err := m.threads()
	if err != nil {
		return err
	}
	for id, name := range threads {
		err := unix.SchedSetaffinity(id, &cpus)
		if err == nil && strings.HasPrefix(name, "CPU ") {
			err = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // a thread that helped is gone
			return os.NewSyscallError("sched_setaffinity, sched_setattr", err)
		}
	}
	return nil
}

// threads returns QEMU's threads by their ids. The names of the emulated processors' begin with "CPU ".
func (m *machine) threads() (map[int]string, error) {
	folders, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", m.cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, folder := range folders {
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		name, err := os.ReadFile(filepath.Join(folder, "comm"))
		if err == nil {
			names[id] = strings.TrimSpace(string(name))
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			return nil, err
		}
	}
	return names, nil
}
