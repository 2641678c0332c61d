// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Kill kills a process by SIGKILL and returns its command line, with blanks between the words; "" for one between fork and exec,
// which has its parent's still. killed is false for one that had ended.
func Kill(pid int) (line string, killed bool) {
	const flags, forked = 9 - 3, 0x40 // PF_FORKNOEXEC, in the ninth field of proc_pid_stat(5)
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= flags {
		return "", false
	}
	if bits, _ := strconv.ParseUint(string(f[flags]), 10, 64); bits&forked == 0 {
		if line = CommandLine(pid); line == "" {
			return "", false // a zombie
		}
	}
	return line, unix.Kill(pid, unix.SIGKILL) == nil
}

// CommandLine returns the words of a process with blanks between. A zombie has none.
func CommandLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte{' '}))
}
