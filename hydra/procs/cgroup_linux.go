// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ownCgroup returns the folder of this process's control group: in the hierarchy of a version-1 controller, or in that of
// version 2 for "". It is "" if none is mounted.
func ownCgroup(controller string) string {
	membership, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	return cgroupDir(string(membership), string(mounts), controller)
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
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if count, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found {
				n, _ := strconv.Atoi(count)
				return n
			}
		}
	}
	return 0
}
