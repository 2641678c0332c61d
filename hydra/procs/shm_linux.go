// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const shmDir = "/dev/shm/"

// shmNames are the names under which MPI libraries make segments that they unlink once every rank has them mapped.
// Ranks that are killed before that leave them behind.
var shmNames = []string{"mpich_shar_tmp*", "ucx_shm_posix_*", "vader_segment.*"}

// Now is the time by the clock that stamps files and segments, which may be a tick behind time.Now.
func Now() time.Time {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) // cannot fail: the clock exists and now is ours
	return time.Unix(now.Unix())
}

// Makers are collected processes of a job, each with the time it was collected, until which its pid was its own.
type Makers map[int]time.Time

// Ended adds a process that was collected just now.
func (m Makers) Ended(pid int) { m[pid] = time.Now() }

// RemoveSharedMemory removes the shared memory that killed ranks left since the job began, a time of [Now].
func RemoveSharedMemory(since time.Time, makers Makers) {
	removeFiles(since)
	removeSegments(since, makers)
}

const (
	// settle is the time between two looks at files that seem unused. A job that starts has its own unused for moments,
	// between making, opening and mapping them.
	settle = 250 * time.Millisecond
	// glance is the time between two looks at a file that somebody uses: another job may be looking at it as well.
	glance = 5 * time.Millisecond
)

// removeFiles removes files of ours with an MPI library's name, made since the job began, that no process has open or
// mapped at two looks. Nothing in such a file tells its maker: the names are random (mkstemp(3), ucs_generate_uuid).
func removeFiles(since time.Time) {
	left := unusedFiles(since)
	if len(left) == 0 {
		return
	}
	time.Sleep(settle)
	still := unusedFiles(since)
	for path := range left {
		if still[path] {
			_ = os.Remove(path) // somebody else may have been faster
		}
	}
}

func unusedFiles(since time.Time) map[string]bool {
	left := map[string]bool{}
	for _, pattern := range shmNames {
		paths, _ := filepath.Glob(shmDir + pattern) // the pattern is well formed
		for _, path := range paths {
			if isOurs(path) && madeSince(path, since) && isUnused(path) {
				left[path] = true
			}
		}
	}
	return left
}

// isUnused reports whether no process has a file open or mapped, in whatever namespace it is: the kernel grants a lease for
// writing then only (fcntl(2), F_SETLEASE). What it grants for a moment goes with the descriptor. A file is in use where it
// grants none.
func isUnused(path string) bool {
	for range 5 {
		if leased(path) {
			return true
		}
		time.Sleep(glance)
	}
	return false
}

func leased(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
	return err == nil
}

// isOurs reports whether the path is a regular file of this user.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid())
}

// madeSince asks for the birth time of a file, and where the kernel keeps none (tmpfs before Linux 5.18) for its last
// change.
func madeSince(path string, since time.Time) bool {
	var info unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME|unix.STATX_MTIME, &info) != nil {
		return false
	}
	made := info.Mtime
	if info.Mask&unix.STATX_BTIME != 0 {
		made = info.Btime
	}
	return !time.Unix(made.Sec, int64(made.Nsec)).Before(since)
}

// removeSegments removes private SysV segments of ours, made since the job began by one of its collected processes, that
// nobody has attached. UCX marks a segment for removal right after attaching it.
func removeSegments(since time.Time, makers Makers) {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return // a kernel without SysV IPC
	}
	for line := range strings.Lines(string(table)) {
		// key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime: proc_sysvipc_shm(5)
		var key, id, perms, size, maker, last, attached, uid, gid, cuid, cgid, atime, dtime, ctime int64
		n, _ := fmt.Sscan(line, &key, &id, &perms, &size, &maker, &last, &attached, &uid, &gid, &cuid, &cgid, &atime, &dtime, &ctime)
		ended, ofJob := makers[int(maker)]
		if n == 14 && key == 0 && attached == 0 && uid == int64(os.Geteuid()) &&
			ofJob && ctime >= since.Unix() && ctime <= ended.Unix() {
			_, _ = unix.SysvShmCtl(int(id), unix.IPC_RMID, nil) // somebody else may have been faster
		}
	}
}
