// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// meet makes the carrier to all other processes. The limit, of a context without a deadline, begins when all have called it.
func meet(ctx context.Context, limit time.Duration, s *session, ports int, f far) (all carrier.Carrier, err error) {
	id, err := hostID()
	if err != nil {
		return nil, err
	}
	rails, err := f.railsOf(ports, numaNodes())
	if err != nil {
		return nil, err
	}
	listeners, addresses, err := listen(os.Getenv)
	if err != nil {
		return nil, err
	}
	defer func() { // those that are not the node's
		for _, l := range listeners {
			l.Close()
		}
	}()
	door, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: "@tpsl-engine-" + rand.Text()})
	if err != nil {
		return nil, err
	}
	defer func() { leave(err != nil, door) }()
	cards, secret, err := s.exchange(card{ports: ports, host: id, name: door.Addr().String(), carrier: f.carrier, rails: len(rails), addresses: addresses})
	if err != nil {
		return nil, err
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	defer func() {
		if late := ctx.Err(); err != nil && late != nil && !errors.Is(err, late) {
			err = fmt.Errorf("%w: %w", late, err)
		}
	}()
	var peers []tcp.Peer
	var here []int // processes of this host
	onHost := map[string]int{}
	for _, c := range cards {
		onHost[c.host]++
	}
	size, others := 0, false
	for process, c := range cards {
		if c.carrier != f.carrier {
			return nil, fmt.Errorf("process %d is to send by %s, and process %d by %s: set TPSL_CARRIER for all processes", s.rank, f.carrier, process, c.carrier)
		}
		if c.ports > shm.MaxPorts && onHost[c.host] > 1 {
			return nil, fmt.Errorf("process %d has %d ports: it can have %d, as there are other processes on its host", process, c.ports, shm.MaxPorts)
		}
		p := tcp.Peer{First: size, Ports: c.ports}
		size += c.ports
		if c.host != id || process == s.rank {
			p.Address, p.Rails = c.addresses[0], c.addresses[1:]
		}
		if c.host == id {
			here = append(here, process)
		} else {
			others = true
		}
		peers = append(peers, p)
	}
	o := tcp.Options{Peers: peers, Process: s.rank, Secret: secret, Lasting: true}
	own := peers[s.rank]
	var near *shm.Node
	if len(here) > 1 {
		g := group{processes: here, self: s.rank, secret: secret, door: door, leader: cards[here[0]].name}
		if near, err = g.join(ctx, shm.Options{First: own.First, Ports: ports, Total: size, Lasting: true}); err != nil {
			return nil, err
		}
		if !others {
			return near, nil
		}
		o.Near = near.Near()
		for rank := own.First; rank < own.First+ports; rank++ {
			o.Bells = append(o.Bells, near.Port(rank).Bell())
		}
	}
	n, err := f.join(ctx, listeners, rails, cards, o)
	listeners = nil // they are the node's
	if err != nil {
		if near != nil {
			err = errors.Join(err, near.Close())
		}
		return nil, err
	}
	if near == nil {
		return n, nil
	}
	return carrier.Both(near, n)
}

// listen listens at the addresses of this host.
func listen(getenv func(string) string) (far []*net.TCPListener, addresses []string, err error) {
	hosts, err := hostAddresses(getenv)
	if err != nil {
		return nil, nil, err
	}
	for _, host := range hosts {
		l, err := tcp.Listen(net.JoinHostPort(host, "0"))
		if err != nil {
			for _, l := range far {
				l.Close()
			}
			return nil, nil, err
		}
		far, addresses = append(far, l), append(addresses, l.Addr().String())
	}
	return far, addresses, nil
}

// A group is the processes of this host. The first one lets the others in.
type group struct {
	processes []int
	self      int
	secret    tcp.Secret
	door      *net.UnixListener
	leader    string // the name of the first one's door
}

// lastWords is how long a process that has failed keeps its sockets open, so that its program can tell why first. When
// they close the other processes fail, too, and the launcher ends all processes as soon as one has ended.
const lastWords = 2 * time.Second

// leave closes sockets at which other processes may wait: at once, or lastWords later if this process has failed.
func leave(failed bool, sockets ...io.Closer) {
	closeAll := func() {
		for _, s := range sockets {
			s.Close()
		}
	}
	if failed {
		time.AfterFunc(lastWords, closeAll)
	} else {
		closeAll()
	}
}

// join has this process join the node of its host.
func (g *group) join(ctx context.Context, o shm.Options) (n *shm.Node, err error) {
	if g.self != g.processes[0] {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: g.leader})
		if err != nil {
			return nil, fmt.Errorf("meet the processes of this host: %w", err)
		}
		n, err := g.joinBy(ctx, c, o)
		leave(err != nil, c)
		return n, err
	}
	forMeet, forJoin, err := shm.Socketpair()
	if err != nil {
		return nil, err
	}
	sockets := make([]*os.File, len(g.processes))
	sockets[0] = forMeet
	defer func() {
		leave(err != nil, forJoin)
		for _, f := range sockets {
			if f != nil {
				leave(err != nil, f)
			}
		}
	}()
	if err := g.letIn(ctx, sockets); err != nil {
		return nil, err
	}
	met := make(chan error, 1)
	go func() {
		err := shm.Meet(ctx, sockets)
		met <- err
		if err != nil {
			forMeet.Close() // or Join would wait, if nobody has told it
		}
	}()
	if n, err = shm.Join(ctx, forJoin, o); err != nil {
		select {
		case failed := <-met:
			if failed != nil { // and Join because of that
				err = failed
			}
		default: // Meet ends when its sockets close
		}
		return nil, err
	}
	if err := <-met; err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// joinBy has this process join by its connection to the first one.
func (g *group) joinBy(ctx context.Context, c *net.UnixConn, o shm.Options) (*shm.Node, error) {
	if _, err := c.Write(g.proof(g.self)); err != nil {
		return nil, fmt.Errorf("meet the processes of this host: %w", err)
	}
	f, err := c.File()
	if err != nil {
		return nil, fmt.Errorf("meet the processes of this host: %w", err)
	}
	defer f.Close()
	return shm.Join(ctx, f, o)
}

// proof is how a process shows that it is of the job.
func (g *group) proof(process int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(process))
	mac := hmac.New(sha256.New, g.secret[:])
	mac.Write([]byte(g.leader))
	mac.Write(b)
	return mac.Sum(b)
}

// A guest is a process that has proved itself. It has no socket if there is an error.
type guest struct {
	process int
	socket  *os.File
	err     error
}

// letIn takes a connection of each other process. Whoever else comes is sent away.
func (g *group) letIn(ctx context.Context, sockets []*os.File) error {
	missing := map[int]int{} // processes, and where their sockets belong
	for i, process := range g.processes[1:] {
		missing[process] = i + 1
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = g.door.SetDeadline(time.Unix(1, 0)) })()
	guests, closed := make(chan guest), make(chan error, 1)
	go func() {
		for {
			c, err := g.door.AcceptUnix()
			if err != nil {
				closed <- err
				return
			}
			go g.admit(ctx, c, guests) // who says nothing keeps nobody waiting
		}
	}()
	for len(missing) > 0 {
		select {
		case c := <-guests:
			i, expected := missing[c.process]
			switch {
			case c.err != nil:
				return fmt.Errorf("meet process %d of this host: %w", c.process, c.err)
			case !expected:
				c.socket.Close()
			default:
				sockets[i] = c.socket
				delete(missing, c.process)
			}
		case err := <-closed:
			for process := range missing {
				if ctx.Err() == nil {
					return fmt.Errorf("meet process %d of this host: %w", process, err)
				}
				return fmt.Errorf("process %d of this host did not come in time: %w", process, err)
			}
		}
	}
	_ = g.door.SetDeadline(time.Unix(1, 0))
	return nil
}

// admit lets in who is at a connection's other end, if it proves itself.
func (g *group) admit(ctx context.Context, c *net.UnixConn, guests chan<- guest) {
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	process, ok := g.judge(c)
	if !ok {
		leave(ctx.Err() != nil, c)
		return
	}
	f, err := c.File()
	select {
	case guests <- guest{process, f, err}:
		leave(err != nil, c)
	case <-ctx.Done():
		leave(true, c, f)
	}
}

// judge tells which process is at a connection's other end, and whether it has proved that.
func (g *group) judge(c *net.UnixConn) (process int, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var who *unix.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) { who, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || asked != nil || int(who.Uid) != os.Geteuid() {
		return 0, false
	}
	b := make([]byte, 4+sha256.Size+1)
	n, err := c.Read(b)
	if err != nil || n != 4+sha256.Size {
		return 0, false
	}
	process = int(binary.LittleEndian.Uint32(b))
	return process, hmac.Equal(b[:n], g.proof(process))
}
