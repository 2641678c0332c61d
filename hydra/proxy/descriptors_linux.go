// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

// descriptors are the two ends of a process's connections: child in the order of descriptors, from 0.
type descriptors struct {
	child    []int
	stdins   []*os.File // of the ranks that read mpiexec's
	outputs  []output   // one, or one per rank
	control  *os.File
	sessions []*os.File
}

// output is what a process, or one rank of it, writes.
type output struct{ stdout, stderr *os.File }

func (d *descriptors) closeChild() {
	for _, fd := range d.child {
		_ = unix.Close(fd)
	}
}

func (d *descriptors) closeOurs() {
	files := slices.Concat(d.stdins, []*os.File{d.control}, d.sessions)
	for _, o := range d.outputs {
		files = append(files, o.stdout, o.stderr)
	}
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// firstSessionFD is the first descriptor that a process inherits after the standard ones. Behind the sessions come the
// control pipe, the output pipes of all ranks but the first and the stdin pipes of these.
const firstSessionFD = 3

func controlFD(set plan.RankSet) int { return firstSessionFD + len(set.Ranks) }

// streamFDs lists the descriptors of each rank's output and, if it has one, stdin: "stdout,stderr,stdin;stdout,stderr".
func streamFDs(set plan.RankSet, readers plan.Ranks) string {
	next := controlFD(set) + 1
	stdin := next + 2*(len(set.Ranks)-1)
	var list []string
	for i, rank := range set.Ranks {
		fds := []int{1, 2}
		if i > 0 {
			fds = []int{next, next + 1}
			next += 2
		}
		switch {
		case !readers.Hold(rank):
		case i == 0:
			fds = append(fds, 0)
		default:
			fds = append(fds, stdin)
			stdin++
		}
		list = append(list, commaList(fds))
	}
	return strings.Join(list, ";")
}

// openDescriptors makes the connections of a process. The readers get a pipe as stdin, everybody else an empty one. Each
// rank has its own streams if perRank says so, and a PMI socket if inherit does; the process has a control pipe if control does.
func openDescriptors(set plan.RankSet, readers plan.Ranks, perRank, inherit, control bool) (d *descriptors, err error) {
	d = new(descriptors)
	defer func() {
		if err != nil {
			d.closeChild()
			d.closeOurs()
		}
	}()
	sharers := set.Ranks // of descriptor 0
	if perRank {
		sharers = set.Ranks[:1]
	}
	if readers.HoldAny(sharers) {
		err = d.stdin()
	} else {
		err = d.null()
	}
	if err == nil {
		err = d.output()
	}
	for range set.Ranks {
		if err == nil && inherit {
			err = d.session()
		}
	}
	if err == nil && control {
		d.control, err = d.pipe(false)
	}
	for perRank && err == nil && len(d.outputs) < len(set.Ranks) {
		err = d.output()
	}
	for _, rank := range set.Ranks[len(sharers):] {
		if err == nil && readers.Hold(rank) {
			err = d.stdin()
		}
	}
	return d, err
}

func (d *descriptors) stdin() error {
	pipe, err := d.pipe(true)
	d.stdins = append(d.stdins, pipe)
	return err
}

func (d *descriptors) output() (err error) {
	var o output
	if o.stdout, err = d.pipe(false); err == nil {
		o.stderr, err = d.pipe(false)
	}
	d.outputs = append(d.outputs, o)
	return err
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
