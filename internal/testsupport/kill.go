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
