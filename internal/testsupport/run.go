// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs a program to its end and returns what it printed and its exit code;
// 128+N stands for death by signal N, as in a shell. The environment is the
// test's with env ("NAME=value") added. At the time limit the program's process
// group and all descendants are killed, and the test fails.
func Run(t testing.TB, timeout time.Duration, env []string, argv ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // for a descendant that holds the pipes

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	expired := make(chan struct{})
	timer := time.AfterFunc(timeout, func() {
		killTree(cmd.Process.Pid)
		close(expired)
	})
	err := cmd.Wait()
	command := strings.Join(argv, " ")
	if !timer.Stop() {
		<-expired
		t.Fatalf("%s: no end after %v\nstdout:\n%s\nstderr:\n%s", command, timeout, &out, &errOut)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\nstdout:\n%s\nstderr:\n%s", command, err, &out, &errOut)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code = status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return out.String(), errOut.String(), code
}

// killTree kills the process group that pid leads, and its descendants in
// other groups. They are listed first: an orphan has no known parent.
func killTree(pid int) {
	below := descendants(pid)
	_ = unix.Kill(-pid, unix.SIGKILL)
	for _, p := range below {
		_ = unix.Kill(p, unix.SIGKILL)
	}
}

func descendants(pid int) []int {
	var all []int
	for _, child := range children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
