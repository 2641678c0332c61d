// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ErrTimeout is what Output returns for a program that did not end in time.
var ErrTimeout = errors.New("no end in time")

// Run is Output for tests: a program that cannot be started, or does not end in
// time, fails the test; the log then has what the program and its descendants were doing.
func Run(t testing.TB, timeout time.Duration, env []string, argv ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := WithLimit(context.Background(), timeout)
	defer cancel()
	var stacks string
	look := func(pid int) { stacks = Stacks(append([]int{pid}, descendants(pid)...)...) }
	stdout, stderr, code, err := output(ctx, look, env, argv...)
	if err != nil {
		t.Fatalf("%v\nstdout:\n%s\nstderr:\n%s\n%s", err, stdout, stderr, stacks)
	}
	return stdout, stderr, code
}

// Output is OutputContext with a time limit.
func Output(timeout time.Duration, env []string, argv ...string) (stdout, stderr string, code int, err error) {
	ctx, cancel := WithLimit(context.Background(), timeout)
	defer cancel()
	return OutputContext(ctx, env, argv...)
}

// WithLimit returns a context that ends after a time, with ErrTimeout as its cause.
func WithLimit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: %v", ErrTimeout, timeout))
}

// OutputContext runs a program to its end and returns what it printed and its
// exit code; 128+N stands for death by signal N, as in a shell. The environment
// is this process's with env ("NAME=value") added. When the context ends, the
// program's process group and all descendants are killed, and the error is the
// context's cause.
func OutputContext(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error) {
	return output(ctx, func(int) {}, env, argv...)
}

// output is OutputContext with a last look at a program that is to be killed.
func output(ctx context.Context, look func(pid int), env []string, argv ...string) (stdout, stderr string, code int, err error) {
	var out, errOut bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 20 * time.Second // for a descendant that holds the pipes

	command := strings.Join(argv, " ")
	if err := cmd.Start(); err != nil {
		return "", "", 0, fmt.Errorf("start %s: %w", command, err)
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		look(cmd.Process.Pid)
		killTree(cmd.Process.Pid)
		close(killed)
	})
	err = cmd.Wait()
	if !stop() {
		<-killed
		return out.String(), errOut.String(), 0, fmt.Errorf("%s: %w", command, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return out.String(), errOut.String(), 0, fmt.Errorf("%s: %w", command, err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code = status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return out.String(), errOut.String(), code, nil
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
