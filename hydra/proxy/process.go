// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/hydra/channel"
)

// A process runs one rank set.
type process struct {
	set   hydra.RankSet
	index int // in the plan
	pid   int
	ended chan struct{} // closed when the process was collected
	quiet chan struct{} // closed when its PMI sessions and control pipe have ended too

	// Guarded by proxy.mu.
	status      unix.WaitStatus
	killed      bool
	initialized []int // ranks
	finalized   []int
	faultRank   int
}

func (proc *process) unfinalized() []int {
	return slices.DeleteFunc(slices.Clone(proc.initialized), func(rank int) bool {
		return slices.Contains(proc.finalized, rank)
	})
}

// processOf returns the process that holds the rank. Preconditions: p.mu is held.
func (p *proxy) processOf(rank int) *process {
	i := slices.IndexFunc(p.processes, func(proc *process) bool { return proc.set.Holds(rank) })
	return p.processes[i]
}

// A start is what is needed to run one rank set, resolved before any of them runs.
type start struct {
	set  hydra.RankSet
	path string
	args []string
	env  []string
	own  []string // the part of env that tells the process who it is
	dir  string
	cpus []int // to bind the process to; nil leaves it
}

// descriptors are the two ends of a process's connections: child in the order of descriptors, from 0.
type descriptors struct {
	child                 []int
	stdin, stdout, stderr *os.File
	control               *os.File
	sessions              []*os.File
}

func (d *descriptors) closeChild() {
	for _, fd := range d.child {
		_ = unix.Close(fd)
	}
}

func (d *descriptors) closeOurs() {
	for _, f := range append([]*os.File{d.stdin, d.stdout, d.stderr, d.control}, d.sessions...) {
		if f != nil {
			f.Close()
		}
	}
}

// Numbers of the descriptors that a rank set's process inherits after the standard ones.
const firstSessionFD = 3

func controlFD(set hydra.RankSet) int { return firstSessionFD + len(set.Ranks) }

// open makes the connections of a process. Rank 0 gets a pipe as stdin, everybody else an empty one.
func openDescriptors(set hydra.RankSet) (d *descriptors, err error) {
	d = new(descriptors)
	defer func() {
		if err != nil {
			d.closeChild()
			d.closeOurs()
		}
	}()
	if set.Holds(0) {
		d.stdin, err = d.pipe(true)
	} else {
		err = d.null()
	}
	for _, ours := range []**os.File{&d.stdout, &d.stderr} {
		if err == nil {
			*ours, err = d.pipe(false)
		}
	}
	for range set.Ranks {
		if err == nil {
			err = d.session()
		}
	}
	if err == nil && len(set.Ranks) > 1 {
		d.control, err = d.pipe(false)
	}
	return d, err
}

// pipe gives the child one end of a pipe and returns the other.
func (d *descriptors) pipe(childReads bool) (*os.File, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	child, ours := fds[1], fds[0]
	if childReads {
		child, ours = fds[0], fds[1]
	}
	d.child = append(d.child, child)
	return pollable(ours), nil
}

func (d *descriptors) null() error {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	d.child = append(d.child, fd)
	return nil
}

func (d *descriptors) session() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make PMI socket: %w", err)
	}
	d.child = append(d.child, fds[1])
	d.sessions = append(d.sessions, pollable(fds[0]))
	return nil
}

// pollable hands a descriptor to the runtime's poller, so that closing it ends a read.
func pollable(fd int) *os.File {
	_ = unix.SetNonblock(fd, true) // cannot fail on a descriptor just made
	return os.NewFile(uintptr(fd), "fd "+strconv.Itoa(fd))
}

var errEnding = errors.New("the job is ending")

// startAll starts the sets in rank order.
// Preconditions: on the launch thread.
func (p *proxy) startAll(starts []start) error {
	for i, s := range starts {
		if err := p.start(i, s); errors.Is(err, errEnding) {
			return nil
		} else if err != nil {
			return fmt.Errorf("cannot run %s on %s: %w", s.args[0], p.plan.Host, err)
		}
	}
	return nil
}

func (p *proxy) start(index int, s start) error {
	d, err := openDescriptors(s.set)
	if err != nil {
		return err
	}
	proc := &process{set: s.set, index: index, ended: make(chan struct{}), quiet: make(chan struct{}), faultRank: -1}
	err = p.fork(proc, s, d)
	d.closeChild()
	if err != nil {
		d.closeOurs()
		return err
	}
	p.log.Debug("started", "ranks", s.set.Label(), "pid", proc.pid, "path", s.path, "cpus", s.cpus, "own", s.own)
	p.connect(proc, d)
	return nil
}

// fork starts the process, unless the job is ending. The lock spans both the start and the entry into byPID: an end of the
// job must see the process, and so must its collector.
func (p *proxy) fork(proc *process, s start, d *descriptors) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return errEnding
	}
	if proc.pid, err = forkExec(s, d.child); err != nil {
		return err
	}
	p.processes = append(p.processes, proc)
	p.byPID[proc.pid] = proc
	p.running.Add(1)
	return nil
}

// connect serves the connections of a process that runs.
func (p *proxy) connect(proc *process, d *descriptors) {
	if d.stdin != nil {
		p.stdin.attach(d.stdin)
	}
	p.forward(proc, channel.Stdout, d.stdout)
	p.forward(proc, channel.Stderr, d.stderr)
	var talking sync.WaitGroup
	for i, conn := range d.sessions {
		talking.Go(func() { p.server.Serve(proc.set.Ranks[i], proc.set.Program, conn) })
	}
	if d.control != nil {
		talking.Go(func() { p.readControl(proc, d.control) })
	}
	go func() { talking.Wait(); close(proc.quiet) }()
}

// lookPath finds a program as execvp(3) does, in the environment and directory it will run in.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		path := absolute(name, dir)
		return path, executable(path)
	}
	search, _ := hydra.Getenv(env, "PATH")
	result := error(unix.ENOENT)
	for entry := range strings.SplitSeq(search, ":") {
		path := absolute(entry, dir) + "/" + name
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, unix.EACCES) {
			result = err
		}
	}
	return "", result
}

func absolute(path, dir string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return dir + "/" + path
}

func executable(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}
