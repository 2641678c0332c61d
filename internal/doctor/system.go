// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/ranges"
)

func lookAtSystem(found *finder) System {
	s := System{
		Distribution: field(read("/etc/os-release"), "PRETTY_NAME"),
		Glibc:        glibc(found),
		CPU:          field(read("/proc/cpuinfo"), "model name"),
		CPUsOnline:   online(read("/sys/devices/system/cpu/online")),
		CPUsAllowed:  runtime.NumCPU(), // asks sched_getaffinity
		Container:    container(),
		Root:         os.Geteuid() == 0,
		LibcLacks:    libcLacks(found),
		ShadowStacks: slices.Contains(strings.Fields(field(read("/proc/cpuinfo"), "flags")), "user_shstk"),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		parts := []string{}
		for _, p := range [][65]byte{name.Sysname, name.Release, name.Version, name.Machine} {
			parts = append(parts, unix.ByteSliceToString(p[:]))
		}
		s.Kernel = strings.Join(parts, " ")
	}
	groups := read("/proc/self/cgroup")
	s.CgroupCPU = cgroup(groups, "cpu", "cpu.max", "cpu.cfs_quota_us")
	s.CgroupMemory = number(cgroup(groups, "memory", "memory.max", "memory.limit_in_bytes"))
	s.CgroupPids = number(cgroup(groups, "pids", "pids.max", "pids.max"))
	nics, _ := filepath.Glob("/sys/class/infiniband/*")
	s.InfiniBand = len(nics) > 0
	return s
}

// online counts the CPUs of a list such as 0-3,8.
func online(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		if first, last, ok := ranges.Parse(part); ok {
			n += last - first + 1
		}
	}
	return n
}

// container tells the kind of container that this is; many do not show.
func container() string {
	for _, c := range []struct{ file, kind string }{
		{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}, {"/.singularity.d", "apptainer"},
	} {
		if _, err := os.Stat(c.file); err == nil {
			return c.kind
		}
	}
	// container=KIND: what systemd wants of whoever starts a container.
	for entry := range strings.SplitSeq(read("/proc/1/environ"), "\x00") {
		if kind, ok := strings.CutPrefix(entry, "container="); ok {
			return kind
		}
	}
	return ""
}

// cgroup returns a limit of this process's own cgroup: v2, else v1's controller. Those
// of the groups above count too, but are seldom visible.
func cgroup(groups, controller, v2, v1 string) string {
	for line := range strings.Lines(groups) { // cgroups(7): hierarchy:controllers:path
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		for c := range strings.SplitSeq(f[1], ",") {
			path := filepath.Join("/sys/fs/cgroup", c, f[2], v1)
			if c == "" {
				path = filepath.Join("/sys/fs/cgroup", f[2], v2)
			}
			if text := read(path); text != "" && (c == "" || c == controller) {
				return text
			}
		}
	}
	return ""
}

// number reads a limit as /proc and cgroups print them.
func number(text string) Limit {
	if text == "max" || text == "unlimited" {
		return Unlimited
	}
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil:
		return Unknown
	case n > 1<<62: // cgroup v1 has no word for it
		return Unlimited
	}
	return Limit(n)
}
