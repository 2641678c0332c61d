// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/hydra/proxy/rdma"
	"github.com/tpsl/tpsl/hydra/proxy/stdio"
	"github.com/tpsl/tpsl/pmi"
)

// Wanted reports whether mpiexec's arguments make it a proxy.
func Wanted(args []string) bool {
	return len(args) > 0 && args[0] == launch.ProxyArg && (len(args) == 1 || slices.Equal(args[1:], []string{launch.LinesArg}))
}

// Main runs a proxy on the process's standard streams and returns its exit code.
func Main() int {
	// A proxy that somebody has stopped would not see that mpiexec is gone, and its ranks would live on. Who runs takes no notice.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "mpiexec proxy: prctl:", err)
		return 1
	}
	in, out, raw, err := streams()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpiexec proxy:", err)
		return 1
	}
	buffered := channel.Buffered(in)
	order, err := launch.Obey(buffered, out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpiexec proxy:", err)
		return 1
	}
	trunk := channel.New(buffered, out)
	go trunk.Beat(order.Beat)
	cut := make(chan struct{})
	if order.Watched() {
		go order.Watch(func() { raw.Close(); close(cut) })
	}
	conn := trunk.Conn(order.ID)
	switch frame, err := trunk.Receive(); {
	case err == nil && frame.Kind == channel.Grow:
		relay(trunk, conn, order.Secret, frame)
	case err == nil:
		serve(trunk, conn, frame)
	case !errors.Is(err, io.EOF):
		conn.Send(channel.Failed, 0, []byte(err.Error()))
	}
	trunk.Close()
	select { // mpiexec may be stopped, for any time
	case <-trunk.Sent():
	case <-cut:
	}
	if in != raw {
		_, _ = io.Copy(io.Discard, raw)
	}
	return 0
}

// streams returns the two streams of the channel, and the descriptor below the first one. These differ in a task of srun, whose
// input is that of all tasks. The task has to read it to its end: input for other tasks that nobody reads resets the node's
// connection to srun, and the last output is lost.
func streams() (in io.Reader, out io.WriteCloser, raw *os.File, err error) {
	raw, down, err := takeStreams()
	if err != nil || len(os.Args) < 3 {
		return raw, down, raw, err
	}
	in, out, err = launch.Lines(raw, down)
	return in, out, raw, err
}

// takeStreams moves the channel away from descriptors 0 and 1, which ranks would inherit.
func takeStreams() (in, out *os.File, err error) {
	var fds [2]int
	for i := range fds {
		if fds[i], err = unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return nil, nil, fmt.Errorf("take descriptor %d: %w", i, err)
		}
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/null: %w", err)
	}
	for i := range fds {
		if err := unix.Dup2(null, i); err != nil {
			return nil, nil, fmt.Errorf("replace descriptor %d: %w", i, err)
		}
	}
	if err := procs.CloseOnExec(); err != nil {
		return nil, nil, err
	}
	return descriptors.Pollable(fds[0]), os.NewFile(uintptr(fds[1]), "channel out"), nil
}

// relay passes frames between mpiexec and other proxies, one of which is this host's. If one of them was killed, its ranks come to
// the relay, which ends them and removes what they have left.
func relay(trunk *channel.Trunk, conn *channel.Conn, secret launch.Secret, frame channel.Frame) {
	began, collected := procs.Now(), procs.Makers{}
	var branch launch.Branch
	err := procs.SetSubreaper()
	if err == nil {
		branch, err = launch.Relay(trunk, secret, frame)
	}
	if err != nil {
		conn.Send(channel.Failed, 0, []byte(err.Error()))
	}
	reap := func() bool { return procs.Reap(func(pid int, _ unix.WaitStatus) { collected.Ended(pid) }) }
	procs.SweepSparing(reap, sweepLimit, launch.IsProxy)
	if len(collected) > 0 {
		procs.RemoveLeft(branch.Keys(), began, collected)
	}
}

// serve runs the ranks of the launch frame to their end.
func serve(trunk *channel.Trunk, conn *channel.Conn, frame channel.Frame) {
	if err := runRanks(trunk, conn, frame); err != nil {
		at, known := errors.AsType[programError](err)
		if known {
			at.program++
		}
		conn.Send(channel.Failed, at.program, []byte(err.Error()))
	}
	conn.Send(channel.Done, 0, nil)
}

func runRanks(trunk *channel.Trunk, conn *channel.Conn, frame channel.Frame) (err error) {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGPIPE, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	if err := procs.SetSubreaper(); err != nil {
		return err
	}
	p := &proxy{
		trunk:     trunk,
		conn:      conn,
		up:        newUpstream(conn),
		began:     procs.Now(),
		byPID:     map[int]*process{},
		collected: procs.Makers{},
		oomKills:  procs.OOMKills(),
		log:       slog.New(slog.DiscardHandler),
	}
	if err := frame.Value(&p.host); err != nil {
		return err
	}
	if p.host.Trace {
		p.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("host", p.host.Name)
	}
	p.input, p.output = stdio.NewInput(conn), stdio.NewOutput(p.host, conn, p.began)
	p.rdma = rdma.NewGuard(p.host, conn, p.log)
	p.server = pmi.NewServer(p.host.World, p.host.LocalRanks(), p.up, p, p.tracer())
	return p.run(signals)
}

// tracer returns what sends the PMI trace to mpiexec, whose stderr the user reads. It is nil if the user wants no trace.
func (p *proxy) tracer() pmi.Tracer {
	if !p.host.PMI.Trace {
		return nil
	}
	return func(line string) { p.conn.Send(channel.Traced, 0, []byte(line)) }
}
