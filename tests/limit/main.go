// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command limit runs a test binary so that a test that hangs costs its own limit, and the package's other tests still run:
//
//	go test -json -exec "build/limit -limit 2m" ./...
//
// A test hangs when for the limit neither a test or subtest of the binary began or went on nor one ended. Then limit prints what all
// processes of the test are doing, goroutines of the binary among it, kills them, reports the test as failed, and runs the
// binary again for the tests that have not begun, or that have waited for their turn ever since (T.Parallel). Where several
// tests ran at that moment, all are reported as failed, and the log of each names all of them. Some tests take longer:
// testsupport.Limit says so.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func main() {
	limit := flag.Duration("limit", 2*time.Minute, "how long a test may show no `progress`")
	flag.Parse()
	runtime.LockOSThread() // the binary is to die with the thread that starts it: see PR_SET_PDEATHSIG
	code, err := run(os.Stdout, *limit, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "limit:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code of a test binary's tests, all of them.
func run(out io.Writer, limit time.Duration, argv []string) (code int, err error) {
	if !slices.Contains(argv, "-test.v=test2json") {
		return 0, errors.New("cannot see which test runs: say go test -json")
	}
	hung := false
	var begun []string
	for {
		p := newProgress(out, limit)
		code, over, err := once(p, without(begun, argv))
		if err != nil {
			return 0, err
		}
		if !over {
			if hung && code == 0 { // the tests that were left have passed
				p.say("FAIL\n")
				code = 1
			}
			return code, nil
		}
		hung = true
		if len(p.begun) == 0 { // what hangs is no test
			p.say("FAIL\n")
			return 1, nil
		}
		begun = append(begun, p.begun...)
	}
}

// without leaves tests out of a test binary's command line.
func without(tests, argv []string) []string {
	if len(tests) == 0 {
		return argv
	}
	const skip = "-test.skip="
	pattern := "^(" + strings.Join(tests, "|") + ")$"
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if users, ok := strings.CutPrefix(arg, skip); ok {
			argv[i] = skip + users + "|" + pattern
			return argv
		}
	}
	return slices.Insert(argv, 1, skip+pattern)
}

// mark is in the environment of all that a test binary starts.
const mark = "TPSL_TEST_LIMIT"

// once runs a binary to its end or, over, until a test hangs.
func once(p *progress, argv []string) (code int, over bool, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	entry := fmt.Sprintf("%s=%d.%d", mark, os.Getpid(), time.Now().UnixNano())
	cmd.Env = append(os.Environ(), entry)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, p, p
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 5 * time.Second // for what holds the output
	if err := cmd.Start(); err != nil {
		return 0, false, fmt.Errorf("run a test binary: %w", err)
	}
	signals, stop := interrupted()
	defer stop()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	length := p.limit / 20
	ticks := time.NewTicker(length)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() {
				return 128 + int(status.Signal()), false, nil
			}
			return status.ExitStatus(), false, nil
		case s := <-signals:
			kill(cmd.Process.Pid, entry, ended)
			return 128 + int(s.(syscall.Signal)), false, nil
		case <-ticks.C:
			if !p.tick(length) {
				continue
			}
			p.hangs(testsupport.Stacks(append([]int{cmd.Process.Pid}, testsupport.Descendants(cmd.Process.Pid)...)...))
			kill(cmd.Process.Pid, entry, ended)
			p.fail()
			return 0, true, nil
		}
	}
}

// interrupted gets the signals by which a user, or go test, ends the tests.
func interrupted() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP, unix.SIGINT)
	return signals, func() { signal.Stop(signals) }
}

// kill ends a binary, which by SIGQUIT first prints its goroutines, and all that it started: what is below it, and orphans,
// which have the mark.
func kill(pid int, entry string, ended <-chan struct{}) {
	family := testsupport.Descendants(pid)
	_ = unix.Kill(pid, unix.SIGQUIT)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for _, member := range family {
		_ = unix.Kill(member, unix.SIGKILL)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		marked := testsupport.Marked(entry)
		if len(marked) == 0 {
			break
		}
		for _, member := range marked {
			_ = unix.Kill(member, unix.SIGKILL)
		}
	}
	<-ended
}
