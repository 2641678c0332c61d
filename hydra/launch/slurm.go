// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

// slurm starts the proxies of all hosts with one srun, and shares its streams among them.
type slurm struct {
	opts Options

	mu    sync.Mutex
	steps map[int]*step // by proxy
}

// A step is one srun.
type step struct {
	in     *sharedWriter
	stdin  io.Closer
	stderr *stderrTail
	pid    int
	ended  chan struct{} // closed when srun has ended

	mu    sync.Mutex
	lanes []*lane
	live  int // the number of lanes that were not killed and have not ended
}

// A lane has the streams of one proxy.
type lane struct {
	step  *step
	host  Host
	known chan struct{} // closed when its task has told who it is, or cannot any more
	to    *lineWriter   // nil if it will not
	in    *io.PipeReader
	out   *io.PipeWriter
	ended chan struct{} // closed with over
	over  bool
	err   error // why, if the task did not end its stream itself
}

// Expect names hosts whose proxies will be started together.
func (s *slurm) Expect(hosts []Host) error {
	args, err := s.command(hosts)
	if err != nil {
		return err
	}
	st := &step{stderr: new(stderrTail), ended: make(chan struct{}), live: len(hosts)}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = &complaints{step: st}
	cmd.WaitDelay = waitDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGTERM}
	var remote Remote
	procs.OnLastingThread(func() { remote, err = start(cmd, Host{Name: hosts[0].Name}) })
	if err != nil {
		return notStarted(err)
	}
	st.in, st.stdin, st.pid = &sharedWriter{out: remote.In}, remote.In, cmd.Process.Pid
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, host := range hosts {
		l := &lane{step: st, host: host, known: make(chan struct{}), ended: make(chan struct{})}
		l.in, l.out = io.Pipe()
		st.lanes = append(st.lanes, l)
		s.steps[host.ID] = st
	}
	go st.read(remote.Out, func() error { return ended("srun", cmd.Wait()) })
	return nil
}

// command is the command line of srun.
func (s *slurm) command(hosts []Host) ([]string, error) {
	path, err := self(s.opts.Hybrid)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(hosts))
	for i, host := range hosts {
		names[i] = host.Name
	}
	n := strconv.Itoa(len(hosts))
	srun := cmp.Or(s.opts.Exec, "srun")
	return slices.Concat([]string{srun, "-N", n, "-n", n, "--ntasks-per-node=1", "--nodelist=" + strings.Join(names, ","),
		"--export=NONE", "--mem=0", "--cpu-bind=none", "--mpi=none", "--kill-on-bad-exit=0"},
		s.sharing(srun), s.opts.ExtraArgs, []string{path, ProxyArg, LinesArg}), nil
}

// sharing returns the option with which a step shares the job's CPUs with other steps. It is --external-launcher from Slurm 23.11
// on, and --overlap from 20.11 on.
func (s *slurm) sharing(srun string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(s.opts.Limit, defaultLimit))
	defer cancel()
	ask := exec.CommandContext(ctx, srun, "--help")
	ask.WaitDelay = waitDelay
	help, _ := ask.Output() // an error of srun is reported when srun starts the proxies
	for _, option := range []string{"--external-launcher", "--overlap"} {
		if strings.Contains(string(help), option) {
			return []string{option}
		}
	}
	return nil
}

// Start implements Launcher.
func (s *slurm) Start(host Host) (Remote, error) {
	s.mu.Lock()
	st := s.steps[host.ID]
	s.mu.Unlock()
	if st == nil {
		return Remote{}, fmt.Errorf("start proxy on %s: nobody expected it", host.Name)
	}
	i := slices.IndexFunc(st.lanes, func(l *lane) bool { return l.host.ID == host.ID })
	l := st.lanes[i]
	return Remote{In: l, Out: l.in, Wait: l.wait, Kill: func() { st.end(l, errStopped) }, Stderr: st.stderr}, nil
}

// read gives each lane what its task says, until srun ends.
func (st *step) read(out io.Reader, wait func() error) {
	tasks := map[int]*lane{}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == taskMark {
			task, _ := strconv.Atoi(fields[1])
			tasks[task] = st.meet(task, fields[2])
			continue
		}
		task, text, err := parseLine(line)
		switch l := tasks[task]; {
		case err != nil || l == nil: // output of a shell's start-up file
		case text == nil:
			st.end(l, nil)
		default:
			_, _ = l.out.Write(text) // nobody reads a lane that was killed
		}
	}
	err := cmp.Or(wait(), io.EOF)
	close(st.ended)
	for _, l := range st.lanes {
		st.end(l, err)
	}
}

// meet finds the lane of a task on a node.
func (st *step) meet(task int, node string) *lane {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, l := range st.lanes {
		if l.to == nil && !l.over && sameName(l.host.Name, node) {
			l.to = &lineWriter{task, st.in}
			close(l.known)
			return l
		}
	}
	return nil
}

// end ends a lane. The lane has succeeded if there is no error. When the last lane ends, srun ends too.
func (st *step) end(l *lane, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if l.over {
		return
	}
	l.over, l.err = true, err
	if l.to == nil {
		close(l.known)
	}
	l.out.Close()
	close(l.ended)
	if st.live--; st.live == 0 {
		st.stdin.Close()
		if err != nil {
			go st.terminate()
		}
	}
}

// terminate ends srun, which passes SIGTERM on to its tasks first.
func (st *step) terminate() {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		select {
		case <-st.ended:
			return
		default:
			_ = unix.Kill(st.pid, sig)
		}
		select {
		case <-st.ended:
			return
		case <-time.After(stopLimit / 2):
		}
	}
}

// wait waits for the end of the proxy, or of srun. For the last proxy it waits for the end of srun.
func (l *lane) wait() error {
	<-l.ended
	l.step.mu.Lock()
	last := l.step.live == 0
	l.step.mu.Unlock()
	if last {
		select {
		case <-l.step.ended:
		case <-time.After(stopLimit):
		}
	}
	return l.err
}

var errNoTask = errors.New("srun has started no task there")

// Write implements io.Writer.
func (l *lane) Write(b []byte) (int, error) {
	if <-l.known; l.to == nil {
		return 0, errNoTask
	}
	return l.to.Write(b)
}

// Close implements io.Closer.
func (l *lane) Close() error {
	if <-l.known; l.to == nil {
		return nil
	}
	return l.to.Close()
}
