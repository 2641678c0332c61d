// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmix

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/pmi"
)

// startLimit is how long the helper may take to start.
const startLimit = 10 * time.Second

// nativeLaunch makes Open MPI 4 look for a PMIx server at all. It does so only if it finds the address of a daemon; any
// well-formed address will do.
const nativeLaunch = "OMPI_MCA_orte_local_daemon_uri=1.0;tcp://127.0.0.1:1"

// An Upstream is the way to mpiexec.
type Upstream interface {
	pmi.Upstream
	// Ask waits for mpiexec's answer to a request.
	Ask(kind channel.Kind, body []byte) (channel.Frame, error)
	// AskValue is Ask for a request and an answer that package wire encodes.
	AskValue(kind channel.Kind, request, answer any) error
	// AskName asks the name service.
	AskName(request channel.Name) (port string, err error)
}

// Events are told what the helper says of ranks. Its methods must not block, but for Logged.
type Events interface {
	Initialized(rank int)
	Finalized(rank int)
	// Left: the rank has ended its session.
	Left(rank int)
	// Logged: the MPI library of the rank asks to show a text on stderr.
	Logged(rank int, text []byte)
	// Warned: the helper complains; rank is -1.
	Warned(rank int, text string)
	// Gone: the helper has ended unasked, so the ranks would wait for each other for ever.
	Gone(why error)
}

// A Server serves the ranks of one host.
type Server struct {
	host   plan.Host
	conn   *channel.Conn
	up     Upstream
	events Events

	folder string // has all files that libpmix and its clients make; nobody else may enter it
	output *os.File
	lines  *bufio.Reader    // of output
	env    map[int][]string // the variables of each rank
	gone   map[int]bool     // the ranks that have finalized
	gather *pmi.Gather      // of the host's ranks
	said   *complaint
	closed atomic.Bool
	ended  chan struct{} // closed when Serve has ended
	shown  chan struct{} // closed when everything that ranks have logged so far has been passed on; each log replaces it

	describing sync.Mutex
	described  []string // key-value spaces of the worlds that the helper knows

	mu    sync.Mutex // held while a line is written
	stdin *os.File
}

func newServer(host plan.Host, conn *channel.Conn, up Upstream, events Events) *Server {
	s := &Server{host: host, conn: conn, up: up, events: events, env: map[int][]string{}, gone: map[int]bool{}}
	s.gather = pmi.NewGather(host.World.Size, host.LocalRanks(), up)
	s.ended, s.shown = make(chan struct{}), make(chan struct{})
	close(s.shown)
	return s
}

// Start starts the helper. The helper ends when its stdin does, whatever becomes of the proxy, and removes the folder.
// After an error the caller still closes and removes the server, unless it is nil.
func Start(host plan.Host, conn *channel.Conn, up Upstream, events Events) (*Server, error) {
	file, err := installation.File(executable.PMIxHelper)
	if err != nil {
		return nil, err
	}
	folder := procs.PMIxFolder(host.Key())
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("%w; set TMPDIR to a folder in which you may write", err)
	}
	s := newServer(host, conn, up, events)
	s.folder = folder
	var pipes [3]struct{ ours, its *os.File }
	for i := range pipes {
		read, write, err := os.Pipe()
		if err != nil {
			return s, err
		}
		pipes[i].ours, pipes[i].its = read, write
		if i == 0 {
			pipes[i].ours, pipes[i].its = write, read
		}
		defer pipes[i].its.Close()
	}
	s.stdin, s.output = pipes[0].ours, pipes[1].ours
	s.lines, s.said = bufio.NewReader(s.output), s.hear(pipes[2].ours)
	_ = s.output.SetReadDeadline(time.Now().Add(startLimit)) // pipes have deadlines
	args := []string{file, host.World.KVSName, s.folder, host.Name}
	_, err = syscall.ForkExec(file, args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{pipes[0].its.Fd(), pipes[1].its.Fd(), pipes[2].its.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return s, fmt.Errorf("start %s: %w", file, err)
	}
	return s, nil
}

// Await describes the ranks to the helper and waits until it serves. The ranks may start after it. Query may be called before, as
// other hosts may be faster.
func (s *Server) Await() error {
	if err := s.describe(s.host.World.KVSName); err != nil {
		return err
	}
	return s.await()
}

// Settings returns the variables by which the ranks of a set find the server. Only the number of the rank differs from rank to
// rank, so PMIX_RANK lists all of them. env is the rest of their environment.
func (s *Server) Settings(ranks []int, env []string) []string {
	return plan.SetEnv(append(s.giveWay(env), s.env[ranks[0]]...), "PMIX_RANK="+ranges.List(ranks))
}

// giveWay returns the variable that makes Open MPI's ranks yield while they wait, if there are more ranks than CPUs. Open
// MPI's own launcher does the same.
func (s *Server) giveWay(env []string) []string {
	const crowded = "OMPI_MCA_mpi_oversubscribe"
	cpus, err := hardware.AllowedCPUs()
	if _, set := plan.Getenv(env, crowded); set || err != nil || s.host.Ranks <= len(cpus) {
		return nil
	}
	return []string{crowded + "=1"}
}

// describe tells the helper which ranks a world has, and where they are. It does nothing the second time.
func (s *Server) describe(space string) error {
	s.describing.Lock()
	defer s.describing.Unlock()
	if slices.Contains(s.described, space) {
		return nil
	}
	var layout channel.Layout
	if err := s.up.AskValue(channel.LayoutRequest, channel.Layout{Space: space}, &layout); err != nil {
		return err
	}
	if layout.Error != "" {
		return errors.New(layout.Error)
	}
	self := -1
	if space == s.host.World.KVSName {
		self = slices.Index(layout.Hosts, s.host.Name)
	}
	s.tell("job", space, len(layout.Programs), layout.Universe, self)
	for i, host := range layout.Hosts {
		s.tell("node", host, ranges.List(layout.Ranks[i]))
	}
	s.tell("apps", ranges.List(layout.Programs))
	s.tell("serve")
	s.described = append(s.described, space)
	return nil
}

// tell sends the helper a line of words. Serve finds out if the helper is gone.
func (s *Server) tell(words ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintln(s.stdin, words...)
}
