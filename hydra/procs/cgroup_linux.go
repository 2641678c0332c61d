// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ownCgroup returns the folder of this process's control group, in the hierarchy of a version-1 controller, or in that of
// version 2 for "". It returns "" if this hierarchy is not mounted.
func ownCgroup(controller string) string {
	membership, mounts := ownCgroups()
	return cgroupDir(membership, mounts, controller)
}

var ownCgroups = sync.OnceValues(func() (membership, mounts string) {
	return readText("/proc/self/cgroup"), readText("/proc/self/mountinfo")
})

// readText returns the content of a kernel file, or "" if it cannot be read. It is faster than os.ReadFile, which also tries to
// register the file with the poller.
func readText(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 4<<10)
	for {
		text = slices.Grow(text, 1<<10)
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if n <= 0 && !errors.Is(err, unix.EINTR) {
			return string(text)
		}
		text = text[:len(text)+max(n, 0)]
	}
}

// cgroupDir reads lines of cgroups(7), "ID:CONTROLLERS:PATH", and of proc_pid_mountinfo(5).
func cgroupDir(membership, mounts, controller string) string {
	for line := range strings.Lines(membership) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 || !slices.Contains(strings.Split(fields[1], ","), controller) {
			continue
		}
		for mount := range strings.Lines(mounts) {
			if root, point := cgroupMount(mount, controller); point != "" && strings.HasPrefix(fields[2], root) {
				return filepath.Join(point, strings.TrimPrefix(fields[2], root))
			}
		}
	}
	return ""
}

// cgroupMount returns which part of a hierarchy a mount shows, and where.
func cgroupMount(mount, controller string) (root, point string) {
	before, after, _ := strings.Cut(mount, " - ")
	if !strings.HasPrefix(after, "cgroup") {
		return "", ""
	}
	where, what := strings.Fields(before), strings.Fields(after)
	if len(where) < 5 || len(what) < 3 {
		return "", ""
	}
	isV2 := what[0] == "cgroup2" && controller == ""
	isV1 := what[0] == "cgroup" && controller != "" && slices.Contains(strings.Split(what[2], ","), controller)
	if !isV1 && !isV2 {
		return "", ""
	}
	return where[3], where[4]
}

// OOMKills counts the processes of this process's control group that the kernel has killed for want of memory. Version 2
// counts those of groups below too.
func OOMKills() int {
	for _, file := range []string{filepath.Join(ownCgroup(""), "memory.events"), filepath.Join(ownCgroup("memory"), "memory.oom_control")} {
		for line := range strings.Lines(readText(file)) {
			if count, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found {
				n, _ := strconv.Atoi(count)
				return n
			}
		}
	}
	return 0
}
