// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long something new may take to go. Jobs of other test
// binaries come and go in /dev/shm meanwhile; what is left behind stays.
var patience = 30 * time.Second

// NothingLeft fails the test if, at its end, there is a file in /dev/shm, a
// SysV shared memory segment whose maker has ended, a child process or a file
// descriptor that was not there when NothingLeft was called. A maker that lives
// is a child, or of another test binary's job, and so is a process that uses a file of
// /dev/shm or has a segment attached. Call it first: its clean-up then runs last.
func NothingLeft(t testing.TB) {
	t.Helper()
	// Orphans become this process's children, so that they are seen. See
	// prctl(2); it holds for the rest of the process's life.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatalf("become a subreaper: %v", err)
	}
	before := things()
	t.Cleanup(func() {
		t.Helper()
		left := things()
		remains := func() bool {
			now := things()
			for thing := range left {
				_, old := before[thing]
				if command, still := now[thing]; still && !old {
					left[thing] = command
				} else {
					delete(left, thing)
				}
			}
			return len(left) > 0
		}
		for range 2 { // another's job may end just before the look at who uses its files, and remove them just after
			for end := time.Now().Add(patience); remains() && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			maps.DeleteFunc(left, func(thing, _ string) bool { return othersUse(thing) })
			if len(left) == 0 {
				return
			}
		}
		var lines []string
		for thing, command := range left {
			lines = append(lines, thing+command)
		}
		slices.Sort(lines)
		t.Errorf("left behind:\n%s", strings.Join(lines, "\n"))
	})
}

// things names all that NothingLeft watches. The value is the command of a process, which exec changes, and empty for other things.
func things() map[string]string {
	found := map[string]string{}
	if files, err := os.ReadDir("/dev/shm"); err == nil {
		for _, f := range files {
			found["/dev/shm/"+f.Name()] = ""
		}
	}
	// key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime ...: proc_sysvipc_shm(5)
	if table, err := os.ReadFile("/proc/sysvipc/shm"); err == nil {
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); len(f) > 13 && f[0] != "key" && isNew(f[13]) && !othersLive(f[4]) && (f[6] == "0" || attached(f[1])) {
				found[fmt.Sprintf("SysV segment %s, made by process %s", f[1], f[4])] = ""
			}
		}
	}
	for _, pid := range children(os.Getpid()) {
		if reaped, _ := unix.Wait4(pid, nil, unix.WNOHANG, nil); reaped == pid {
			continue // an orphan that has ended
		}
		found[fmt.Sprintf("process %d", pid)] = ": " + CommandLine(pid)
	}
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		// What cannot be read was this Glob's own; eventpoll and eventfd are
		// the Go runtime's, made on first use.
		target, err := os.Readlink(fd)
		if err == nil && !strings.HasPrefix(target, "anon_inode:[event") {
			found["descriptor "+filepath.Base(fd)+": "+target] = ""
		}
	}
	return found
}

var began = time.Now()

// isNew reports whether a time, in seconds, is not before this binary's begin. What is older may seem to be made by a live process, which then ends: the
// kernel gives numbers of processes again.
func isNew(seconds string) bool {
	at, err := strconv.ParseInt(seconds, 10, 64)
	return err != nil || at >= began.Unix()
}

// attached reports whether this process has a SysV segment attached: its number is the inode's in proc_pid_maps(5).
func attached(id string) bool {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) > 5 && f[4] == id && strings.HasPrefix(f[5], "/SYSV") {
			return true
		}
	}
	return false
}

// othersLive reports whether the process lives and is not this one.
func othersLive(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err == nil && pid != strconv.Itoa(os.Getpid())
}

// othersUse reports whether a live process that is not this one has a file of /dev/shm open or mapped. It is of another test
// binary's job, which may be long; one of ours is itself told of.
func othersUse(thing string) bool {
	if !strings.HasPrefix(thing, "/dev/shm/") {
		return false
	}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	return slices.ContainsFunc(folders, func(folder string) bool {
		if folder == fmt.Sprintf("/proc/%d", os.Getpid()) {
			return false
		}
		fds, _ := filepath.Glob(folder + "/fd/*") // before the mappings: a file is opened, mapped and then closed
		if slices.ContainsFunc(fds, func(fd string) bool { target, _ := os.Readlink(fd); return target == thing }) {
			return true
		}
		mappings, _ := os.ReadFile(folder + "/maps")
		return bytes.Contains(mappings, []byte(" "+thing+"\n"))
	})
}

// children returns the processes whose parent is pid.
func children(pid int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		// pid (comm) state ppid ...: proc_pid_stat(5). comm may hold anything.
		stat, _ := os.ReadFile(path)
		_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		f := bytes.Fields(rest)
		if !ok || len(f) < 2 || string(f[1]) != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found = append(found, child)
		}
	}
	return found
}
