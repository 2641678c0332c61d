// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

// A shell is a launcher that runs a command on one host and passes the standard streams through.
type shell struct {
	program string   // of the launcher
	args    []string // in front of the user's extra arguments
	user    string   // option for the user's name; "" if it has none
	attach  bool     // the proxy is to join the PBS job
	exec    string   // a program to run in place of program
	extra   []string
	proxy   string // its command, for a shell
}

// shells are the launchers that differ only in their command line. PBS's own pbs_tmrsh and pbsdsh do not pass input on, so PBS jobs
// use ssh. pbs_attach then makes the process that ssh has started a part of the job.
var shells = map[string]shell{
	"ssh": {program: "ssh", args: []string{"-x", "-o", "BatchMode=yes"}, user: "-l"},
	"rsh": {program: "rsh", user: "-l"},
	"lsf": {program: "blaunch"},
	"sge": {program: "qrsh", args: []string{"-inherit"}},
	"pbs": {program: "ssh", args: []string{"-x", "-o", "BatchMode=yes"}, user: "-l", attach: true},
	"ll":  {program: "llspawn.stdio"},
}

// waitDelay is how long we wait, after a launcher has ended, for other processes that hold its stderr, such as the master of
// ssh's shared connections.
const waitDelay = time.Second

func newShell(name string, opts Options) (Launcher, error) {
	s := shells[name]
	path, err := self(opts.Hybrid)
	if err != nil {
		return nil, err
	}
	s.proxy = quote(path) + " " + ProxyArg
	s.exec, s.extra = s.program, opts.ExtraArgs
	if opts.Exec != "" {
		s.exec = opts.Exec
	}
	if i := slices.Index(s.args, "-x"); i >= 0 && opts.X == "enable" {
		s.args = slices.Concat(s.args[:i], []string{"-X"}, s.args[i+1:])
	}
	if s.attach {
		job := os.Getenv("PBS_JOBID")
		if job == "" {
			return nil, errors.New("launcher pbs: PBS_JOBID is not set; run mpiexec within a PBS job, or choose ssh")
		}
		s.proxy = "pbs_attach -j " + quote(job) + " " + s.proxy
	}
	return s, nil
}

// command is the launcher's command line for a host.
func (s shell) command(host Host) []string {
	args := slices.Concat([]string{s.exec}, s.args, s.extra)
	if host.User != "" && s.user != "" {
		args = append(args, s.user, host.User)
	}
	return append(args, host.Name, s.proxy)
}

// Start implements Launcher. The launcher ends with the thread that started it, even if this process is killed. It may be waiting
// for a host that does not answer.
func (s shell) Start(host Host) (remote Remote, err error) {
	if strings.HasPrefix(host.Name, "-") {
		return Remote{}, fmt.Errorf("%q cannot be a host: it would be an option of %s", host.Name, s.exec)
	}
	args := s.command(host)
	cmd := exec.Command(args[0], args[1:]...)
	said := new(stderrTail)
	cmd.Stderr = said
	cmd.WaitDelay = waitDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	procs.OnLastingThread(func() { remote, err = start(cmd, host) })
	if err != nil {
		return remote, notStarted(err)
	}
	var over atomic.Bool
	remote.Stderr = said
	remote.Wait = func() error {
		defer over.Store(true)
		return ended(filepath.Base(s.exec), cmd.Wait())
	}
	remote.Kill = func() {
		if !over.Load() {
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // it may be a script
		}
	}
	return remote, nil
}

// start runs a launcher with the channel on its standard streams.
func start(cmd *exec.Cmd, host Host) (Remote, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	return Remote{In: in, Out: out, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }}, nil
}

// notStarted returns an error that says what to do if this machine does not have the launcher.
func notStarted(err error) error {
	return fmt.Errorf("%w; choose another program by -launcher-exec, or another way by -launcher", err)
}

// ended returns an error that says how a launcher ended, or nil if it succeeded.
func ended(name string, err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return fmt.Errorf("%s was killed by %s", name, unix.SignalName(status.Signal()))
	}
	return fmt.Errorf("%s ended with %d", name, exit.ExitCode())
}

// plain are the bytes that have no special meaning in any shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%"

// quote writes a word so that a shell reads it as it is.
func quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
