// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Kill kills a process by SIGKILL and returns its command line, with blanks between the words; "" for one between fork and the end of
// exec, which has its parent's or none. killed is false for one that had ended.
func Kill(pid int) (line string, killed bool) {
	now := flags(pid)
	if now&forked == 0 {
		line = CommandLine(pid)
		now = flags(pid) // a process without a command line is ending, or is in exec
	}
	if now&exiting != 0 {
		return "", false
	}
	return line, unix.Kill(pid, unix.SIGKILL) == nil
}

const exiting, forked = 0x4, 0x40 // PF_EXITING and PF_FORKNOEXEC of the kernel's include/linux/sched.h

// flags returns a process's flags, which are the ninth field of proc_pid_stat(5).
func flags(pid int) uint64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the third field on
	if len(f) <= 9-3 {
		return exiting
	}
	bits, _ := strconv.ParseUint(string(f[9-3]), 10, 64)
	return bits
}

// Marked returns the processes that have an entry "NAME=value" in the environment that they were started with.
func Marked(entry string) (found []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environ, _ := os.ReadFile(path)
		if !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+entry+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// CommandLine returns the words of a process with blanks between. A zombie has none.
func CommandLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte{' '}))
}
