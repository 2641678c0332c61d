// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// For gdb at one process, and at all of them.
const attachLimit, stacksLimit = 10 * time.Second, 30 * time.Second

// Stacks says what processes are doing, for the log of a test that hangs: each thread's name, state, place in the kernel and
// system call; and the stacks as gdb shows them, or as the kernel knows them where gdb is missing or can say nothing. The last
// process comes first: logs may be cut, and what a test has started says more than the test itself.
func Stacks(pids ...int) string {
	ctx, cancel := context.WithTimeout(context.Background(), stacksLimit)
	defer cancel()
	var text strings.Builder
	for _, pid := range slices.Backward(pids) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if len(threads) == 0 {
			continue // it has ended
		}
		fmt.Fprintf(&text, "process %d: %s\n", pid, CommandLine(pid))
		for _, thread := range threads {
			text.WriteString(whereabouts(thread))
		}
		frames := backtrace(ctx, pid)
		if !strings.Contains(frames, "#0") {
			for _, thread := range threads {
				stack := strings.ReplaceAll(proc(thread+"/stack"), "\n", " ")
				frames += fmt.Sprintf("  thread %s in the kernel: %s\n", filepath.Base(thread), stack)
			}
		}
		text.WriteString(frames)
	}
	return text.String()
}

// Whereabouts says what each thread of some processes is doing, as the kernel knows it. Unlike Stacks it does not stop them.
// The first line is that of all processors in proc_stat(5). Its eighth number counts the ticks that a hypervisor gave to other machines.
func Whereabouts(pids ...int) string {
	ticks, _, _ := strings.Cut(proc("/proc/stat"), "\n")
	text := ticks + "\n"
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, thread := range threads {
			text += whereabouts(thread)
		}
	}
	return text
}

// whereabouts is a line of proc(5)'s files of a thread.
func whereabouts(thread string) string {
	stat, _ := os.ReadFile(thread + "/stat")
	state, _, _ := bytes.Cut(bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:]), []byte(" "))
	return fmt.Sprintf("  thread %s %s: state %s in %s, system call %s, ran and waited %s\n", filepath.Base(thread),
		proc(thread+"/comm"), state, proc(thread+"/wchan"), proc(thread+"/syscall"), proc(thread+"/schedstat"))
}

func proc(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(text))
}

// backtrace has gdb look at a process. Without gdb it is empty, and of a program of one piece, as those of Go are, which are
// without symbols under go test and print their goroutines themselves.
func backtrace(ctx context.Context, pid int) string {
	gdb, err := exec.LookPath("gdb")
	if err != nil || !strings.Contains(proc(fmt.Sprintf("/proc/%d/maps", pid)), ".so") {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, attachLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, gdb, "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
		"-p", strconv.Itoa(pid), "-ex", "thread apply all backtrace 40")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		out = fmt.Appendf(out, "gdb: %v\n", err)
	}
	return string(out)
}

// Descendants returns the processes below one, nearest first in each branch.
func Descendants(pid int) []int { return descendants(pid) }

// Limit lets a test, with its subtests, take longer than the two minutes without progress that scripts/test allows: see tests/limit.
func Limit(t testing.TB, limit time.Duration) {
	t.Attr("limit", limit.String())
}
