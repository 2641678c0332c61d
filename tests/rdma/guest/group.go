// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Options say what to start.
type Options struct {
	Guests int  // 1 or 2
	Rails  int  // RDMA devices of each, 1 or 2; 0 is 1
	CPUs   int  // of each; 0 is as many as this machine has for it, 1 or 2: one that it has not is emulated at the others' cost
	Nodes  int  // NUMA nodes of each, 1 or 2, each with one of its CPUs and half of its memory; 0 is 1
	Apart  bool // each has a part of this machine's CPUs, and there its devices come first: steadier on a quiet machine, slow on another
}

// names are the guests'.
var names = []string{"a", "b"}

// A Group is guests that run.
type Group struct {
	dir      string // shared with the guests, under the same name
	alive    *os.File
	machines []*machine
	runs     atomic.Int64 // started so far
	unwatch  func() bool
}

// startLimit is how long guests may take to come up: seconds alone, more on a machine with much else to do.
const startLimit = 2 * time.Minute

//go:embed agent.sh
var agentScript []byte

// Start boots a group of guests. They end at ctx's end at the latest.
func Start(ctx context.Context, o Options) (*Group, error) {
	g, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start guests: %w", errors.Join(err, g.Stop()))
	}
	g.unwatch = context.AfterFunc(ctx, g.kill)
	return g, nil
}

// start leaves what is to be stopped in the group also when there is an error.
func start(ctx context.Context, o Options) (*Group, error) {
	g := &Group{}
	if o.Guests < 1 || o.Guests > len(names) || o.Rails < 0 || o.Rails > 2 || o.Nodes < 0 || o.Nodes > 2 {
		return g, fmt.Errorf("%d guests of %d rails and %d NUMA nodes: there may be 2 of 2 and 2", o.Guests, o.Rails, o.Nodes)
	}
	kernel, err := findKernel(ctx)
	if err != nil {
		return g, err
	}
	if err := g.makeFolder(os.TempDir()); err != nil {
		return g, err
	}
	if err := g.writeFiles(kernel, names[:o.Guests]); err != nil {
		return g, err
	}
	wire, err := newWire(o)
	if err != nil {
		return g, err
	}
	defer closeAll(wire)
	for i := range o.Guests {
		m, err := startMachine(machineOptions{kernel: kernel.image(), dir: g.dir, number: i, rails: max(o.Rails, 1), cpus: cmp.Or(o.CPUs, max(1, o.Nodes, min(2, runtime.NumCPU()/o.Guests))), nodes: o.Nodes, wire: wire[i]})
		if err != nil {
			return g, err
		}
		g.machines = append(g.machines, m)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not up within %v", startLimit))
	defer cancel()
	for _, m := range g.machines {
		if err := m.await(ctx); err != nil {
			return g, err
		}
	}
	if o.Apart {
		return g, g.setApart()
	}
	return g, nil
}

// writeFiles fills the shared folder.
func (g *Group) writeFiles(k kernel, names []string) error {
	root, err := initramfs(k)
	if err != nil {
		return err
	}
	if err := testsupport.WriteHostFiles(g.dir, names); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(g.dir, "initramfs"), root, 0o666),
		os.WriteFile(filepath.Join(g.dir, "agent"), agentScript, 0o666))
}

// newWire returns each guest's end of what joins them: all rails are on it, as ports on a fabric, so that each reaches each, which
// MPI libraries take for granted. A guest on its own has none: its links lead back to it.
func newWire(o Options) (ends [2]*os.File, err error) {
	if o.Guests < 2 {
		return ends, nil
	}
	// A datagram is a frame; a guest that sends too fast waits, so that none is lost.
	return socketPair(unix.SOCK_DGRAM)
}

func socketPair(kind int) ([2]*os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return [2]*os.File{}, os.NewSyscallError("socketpair", err)
	}
	return [2]*os.File{os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket")}, nil
}

func closeAll(files [2]*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

func (g *Group) kill() {
	for _, m := range g.machines {
		m.kill()
	}
}

// Stop ends the guests. When it returns, their processes are gone and what was shared with them is removed.
func (g *Group) Stop() error {
	if g.unwatch != nil {
		g.unwatch()
	}
	g.kill()
	for _, m := range g.machines {
		<-m.gone
		m.channel.Close()
	}
	if g.alive != nil {
		g.alive.Close()
	}
	return os.RemoveAll(g.dir)
}
