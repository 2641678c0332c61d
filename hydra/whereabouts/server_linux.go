// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/version"
)

// longestQuestion bounds a line.
const longestQuestion = 1 << 10

// limits are those of who asks.
type limits struct {
	read  time.Duration // how long it may take to read an answer
	quiet time.Duration // how long it may ask nothing before the connection is ended. A tpsl top that was stopped connects again
	peers int           // how many may ask at the same time
}

var usualLimits = limits{read: 5 * time.Second, quiet: time.Minute, peers: 16}

// A Respondent answers for a job. Its methods may be called from any goroutine.
type Respondent interface {
	// Where says where the ranks are; "" if the job is ending.
	Where() string
	// Stacks says the same, and what the stacks of the ranks are. It takes seconds.
	Stacks() string
	// Watch is called before Look. It may begin what costs the job something, until end is called.
	Watch() (end func())
	// Look says what the ranks do; false if the job is ending.
	Look() (Job, bool)
}

// name returns the socket's name for a process of mpiexec.
func name(pid int) string { return fmt.Sprintf("@tpsl/mpiexec/%d", pid) }

// Serve answers who asks, until it is closed.
func Serve(r Respondent) (*net.UnixListener, error) { return serve(r, usualLimits) }

func serve(r Respondent, most limits) (*net.UnixListener, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: name(os.Getpid()), Net: "unix"})
	if err != nil {
		return nil, err
	}
	peers := make(chan struct{}, most.peers)
	go func() {
		for {
			conn, err := listener.AcceptUnix()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil:
				time.Sleep(100 * time.Millisecond) // no descriptor is free
			case !isAllowed(conn):
				conn.Close()
			default:
				go admit(&peer{conn: conn, respondent: r, most: most}, peers)
			}
		}
	}()
	return listener, nil
}

// isAllowed reports whether a peer may ask about this process's job.
func isAllowed(conn *net.UnixConn) bool {
	peer, err := peerOf(conn)
	return err == nil && (peer.Uid == 0 || peer.Uid == uint32(os.Getuid()))
}

// admit serves a peer if there are not too many of them.
func admit(p *peer, peers chan struct{}) {
	defer p.leave()
	select {
	case peers <- struct{}{}:
		defer func() { <-peers }()
		p.serve(p.answer)
	default:
		p.serve(func(Question) Answer {
			return Answer{Error: fmt.Sprintf("%d others are asking this job", p.most.peers)}
		})
	}
}

// A peer is somebody who asks.
type peer struct {
	conn       *net.UnixConn
	respondent Respondent
	most       limits
	endWatch   func() // nil if it does not watch
}

// serve answers questions until the peer leaves, falls silent or does not read.
func (p *peer) serve(answer func(Question) Answer) {
	lines := bufio.NewScanner(p.conn)
	lines.Buffer(nil, longestQuestion)
	encoder := json.NewEncoder(p.conn)
	for {
		_ = p.conn.SetReadDeadline(time.Now().Add(p.most.quiet))
		if !lines.Scan() {
			return
		}
		var q Question
		if json.Unmarshal(lines.Bytes(), &q) != nil {
			return
		}
		a := answer(q)
		if a == (Answer{}) {
			return
		}
		_ = p.conn.SetWriteDeadline(time.Now().Add(p.most.read))
		if encoder.Encode(a) != nil {
			return
		}
	}
}

// answer answers a question. The answer is empty if the job is ending.
func (p *peer) answer(q Question) Answer {
	switch q.Ask {
	case askWhere:
		return Answer{Text: p.respondent.Where()}
	case askStacks:
		return Answer{Text: p.respondent.Stacks()}
	case askLook:
		if p.endWatch == nil {
			p.endWatch = p.respondent.Watch()
		}
		if job, ok := p.respondent.Look(); ok {
			return Answer{Job: &job}
		}
		return Answer{}
	}
	return Answer{Error: fmt.Sprintf("mpiexec is of version %s, which does not know how to answer this; run tpsl of that version", version.Version)}
}

// leave ends the connection, and what was begun for the peer.
func (p *peer) leave() {
	p.conn.Close()
	if p.endWatch != nil {
		p.endWatch()
	}
}

func peerOf(conn *net.UnixConn) (peer *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	err = errors.Join(raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}), err)
	return peer, err
}
