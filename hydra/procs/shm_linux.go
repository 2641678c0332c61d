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
// Ranks that are killed before that leave them behind. Those of Open MPI are vader_segment in version 4 and sm_segment from 5 on,
// osc_rdma of windows, and open_mpi, which each process makes at its start to find out whether it can.
var shmNames = []string{"mpich_shar_tmp*", "ucx_shm_posix_*", "vader_segment.*", "sm_segment.*", "osc_rdma.*", "open_mpi.*"}

// Now returns the time of the clock from which files and segments get their times. It may be a tick behind time.Now.
func Now() time.Time {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) // cannot fail: the clock exists and now is ours
	return time.Unix(now.Unix())
}

// Makers are collected processes of a job, each with the time when it was collected. Until this time no other process had its pid.
type Makers map[int]time.Time

// Ended adds a process that was collected just now.
func (m Makers) Ended(pid int) { m[pid] = time.Now() }

// RemoveSharedMemory removes the shared memory that killed ranks left since the job began, a time of [Now].
func RemoveSharedMemory(since time.Time, makers Makers) {
	removeFiles(since)
	removeSegments(since, makers)
}

const (
	// settle is the time between two looks at files that seem unused. The files of a job that starts are unused for moments,
	// between the calls that make, open and map them.
	settle = 250 * time.Millisecond
	// glance is the time between two looks at a file that seems to be used, because another job may be looking at it as well.
	glance = 5 * time.Millisecond
)

// removeFiles removes files of this user with a name of an MPI library's files, made since the job began, that no process has open
// or mapped at two looks. Such a file does not show which process has made it, because the names are random (mkstemp(3),
// ucs_generate_uuid).
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

// isUnused reports whether no process in any namespace has a file open or mapped. Only then the kernel grants a lease for writing
// (fcntl(2), F_SETLEASE). The lease ends when the descriptor is closed. If the kernel grants no lease, the file counts as used.
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

// madeSince asks for the birth time of a file. If the kernel keeps none (tmpfs before Linux 5.18), it asks for the last change.
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

// removeSegments removes private SysV segments of this user that no process has attached, if a collected process of the job has made
// them since the job began. UCX marks a segment for removal immediately after it attaches the segment.
func removeSegments(since time.Time, makers Makers) {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return // the kernel has no SysV IPC
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
