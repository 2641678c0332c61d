// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/sockdiag"
	"github.com/tpsl/tpsl/pmi"
)

const (
	// identifyLimit is how long a peer may take to say which rank it is. At the port it may take longer while it is in nobody's way.
	identifyLimit = 5 * time.Second
	// maxUnidentified is how many peers may be connected that have not said yet which rank they are.
	maxUnidentified = 256
)

// A port takes PMI sessions over TCP. It listens on loopback, so peers are on this host. A peer must belong to our user,
// and must name a rank of this host that runs and has no session yet. Other peers get no answer.
type port struct {
	listener net.Listener
	server   *pmi.Server
	claim    pmi.Claim
	awaits   func() bool    // a rank runs that has had no session
	left     func(rank int) // its session has ended
	warn     func(text string)
	slots    chan struct{}
	scarce   atomic.Bool // there was no descriptor for the last peer
	warned   sync.Map    // by reason
}

// openPort opens the port if the user wants one.
func (p *proxy) openPort() error {
	if !p.host.PMI.Port {
		return nil
	}
	for _, set := range p.host.Sets {
		if len(set.Ranks) > 1 {
			return fmt.Errorf("-pmi-port serves one rank per process; %s inherit their sockets without it", set.Name())
		}
	}
	listener, err := listen(p.host.PMI.PortRange)
	if err != nil {
		return fmt.Errorf("open the PMI port: %w", err)
	}
	p.port = &port{
		listener: listener,
		server:   p.server,
		claim:    p.claim,
		awaits:   p.awaitsSession,
		left:     p.Left,
		warn:     func(text string) { p.Warned(-1, text) },
	}
	go p.port.accept()
	return nil
}

// accept serves peers until the listener closes.
func (t *port) accept() {
	t.slots = make(chan struct{}, maxUnidentified)
	for {
		conn, err := t.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		t.scarce.Store(err != nil)
		if err != nil { // there are no descriptors left; some may come free
			t.refuse(err)
			time.Sleep(identifyLimit / 100)
			continue
		}
		if err := checkOwner(conn); err != nil {
			t.refuse(err)
			conn.Close()
			continue
		}
		t.slots <- struct{}{}
		go t.serve(conn)
	}
}

func (t *port) serve(conn net.Conn) {
	identified := make(chan struct{})
	var hurry sync.WaitGroup
	hurry.Go(func() { t.hurry(conn, identified) })
	rank, serve, err := t.server.Identify(conn, t.claim)
	close(identified)
	hurry.Wait()
	<-t.slots
	if err != nil {
		t.refuse(err)
		conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	serve()
	t.left(rank)
}

// hurry refuses a peer that has not said which rank it is and is in the way of others. While it is in nobody's way it stays: a rank may
// be stopped, or get no processor, before it says anything.
func (t *port) hurry(conn net.Conn, identified <-chan struct{}) {
	for !patient(identified, identifyLimit) {
		if len(t.slots) == cap(t.slots) || t.scarce.Load() || !t.awaits() {
			_ = conn.SetReadDeadline(time.Now()) // fails only on a closed connection
			return
		}
	}
}

// refuse warns of a peer, once for each reason: anybody may connect at any time.
func (t *port) refuse(err error) {
	if net, ok := errors.AsType[net.Error](err); ok && net.Timeout() {
		err = errSilent
	}
	if _, told := t.warned.LoadOrStore(err.Error(), true); !told {
		t.warn(fmt.Sprintf("refused a connection to the PMI port: %v", err))
	}
}

var (
	errSilent    = errors.New("the peer did not say who it is")
	errNotOurs   = errors.New("it does not belong to the user of this job")
	errNoRank    = errors.New("it names a rank that does not run on this host")
	errConnected = errors.New("it names a rank that has a session")
)

// checkOwner compares the user of the peer's socket with ours.
func checkOwner(conn net.Conn) error {
	uid, err := sockdiag.Owner(conn.RemoteAddr().(*net.TCPAddr).AddrPort(), conn.LocalAddr().(*net.TCPAddr).AddrPort())
	if err == nil && uid != os.Getuid() {
		err = errNotOurs
	}
	return err
}

// claim implements pmi.Claim.
func (p *proxy) claim(rank int) (appnum int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.processes, func(proc *process) bool { return proc.set.Holds(rank) })
	if i < 0 {
		return 0, errNoRank
	}
	proc := p.processes[i]
	if proc.connected {
		return 0, errConnected
	}
	proc.connected = true
	return proc.set.Program, nil
}

// awaitsSession reports whether a process of the host may still ask for its session.
func (p *proxy) awaitsSession() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.processes, func(proc *process) bool { return !proc.connected })
}

// neverConnected ends the wait for the session of a process that has ended without one. It keeps a later peer from being
// its rank.
func (p *proxy) neverConnected(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.port != nil && !proc.connected {
		proc.connected = true
		close(proc.left[proc.set.Ranks[0]])
	}
}

// listen opens a free port of the loopback interface, within the range LOW:HIGH if one is given.
func listen(portRange string) (net.Listener, error) {
	low, high := 0, 0
	if portRange != "" {
		if _, err := fmt.Sscanf(portRange, "%d:%d", &low, &high); err != nil {
			return nil, fmt.Errorf("port range %q: %w", portRange, err)
		}
	}
	for port := low; port <= high; port++ {
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if !errors.Is(err, unix.EADDRINUSE) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("no port from %d to %d is free", low, high)
}
