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
var shmNames = []string{"mpich_shar_tmp*", "ucx_shm_posix_*"}

// RemoveSharedMemory removes the shared memory that killed ranks left since the job began.
func RemoveSharedMemory(since time.Time) {
	removeFiles(since)
	removeSegments(since)
}

// removeFiles removes files of ours with an MPI library's name, made since the job began, that no process has open or
// mapped. Another job's files are in use from the moment they exist: the files are listed first, then descriptors are
// read and then maps, as a library maps a file before closing it.
func removeFiles(since time.Time) {
	left := map[string]bool{}
	for _, pattern := range shmNames {
		paths, _ := filepath.Glob(shmDir + pattern) // the pattern is well formed
		for _, path := range paths {
			info, err := os.Stat(path)
			if err == nil && info.ModTime().After(since) && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid()) {
				left[path] = true
			}
		}
	}
	if len(left) == 0 {
		return
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if path, err := os.Readlink(fd); err == nil {
			delete(left, path)
		}
	}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, name := range maps {
		text, _ := os.ReadFile(name) // a process that has gone maps nothing
		for line := range strings.Lines(string(text)) {
			if at := strings.Index(line, shmDir); at >= 0 {
				delete(left, strings.TrimSpace(line[at:]))
			}
		}
	}
	for path := range left {
		_ = os.Remove(path) // somebody else may have been faster
	}
}

// removeSegments removes private SysV segments of ours, made since the job began, that nobody has attached and whose
// maker is dead. UCX marks a segment for removal right after attaching it.
func removeSegments(since time.Time) {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return // a kernel without SysV IPC
	}
	for line := range strings.Lines(string(table)) {
		// key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime: proc_sysvipc_shm(5)
		var key, id, perms, size, maker, last, attached, uid, gid, cuid, cgid, atime, dtime, ctime int64
		n, _ := fmt.Sscan(line, &key, &id, &perms, &size, &maker, &last, &attached, &uid, &gid, &cuid, &cgid, &atime, &dtime, &ctime)
		if n == 14 && key == 0 && attached == 0 && uid == int64(os.Geteuid()) && ctime >= since.Unix() &&
			unix.Kill(int(maker), 0) == unix.ESRCH {
			_, _ = unix.SysvShmCtl(int(id), unix.IPC_RMID, nil) // somebody else may have been faster
		}
	}
}
