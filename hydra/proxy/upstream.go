// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// An upstream takes barriers and names to mpiexec. It implements pmi.Upstream.
type upstream struct {
	conn *channel.Conn

	mu      sync.Mutex
	barrier chan []pmi.Entry // the one barrier under way, or nil
	names   map[int]chan channel.Name
	lastID  int
	closed  bool
}

func newUpstream(conn *channel.Conn) *upstream {
	return &upstream{conn: conn, names: map[int]chan channel.Name{}}
}

// Exchange implements pmi.Exchanger. The local ranks enter a barrier together, so there is one at a time.
func (u *upstream) Exchange(count int, puts []pmi.Entry) ([]pmi.Entry, error) {
	reply := make(chan []pmi.Entry, 1)
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return nil, pmi.ErrClosed
	}
	u.barrier = reply
	u.mu.Unlock()
	u.conn.Send(channel.BarrierIn, count, pmi.AppendEntries(nil, puts))
	union, ok := <-reply
	if !ok {
		return nil, pmi.ErrClosed
	}
	return union, nil
}

func (u *upstream) barrierOut(body []byte) {
	union, err := pmi.ParseEntries(body)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.barrier == nil || err != nil {
		return
	}
	u.barrier <- union
	u.barrier = nil
}

// Publish implements pmi.Upstream.
func (u *upstream) Publish(service, port string) error {
	_, err := u.ask(channel.Name{Op: "publish", Service: []byte(service), Port: []byte(port)})
	return err
}

// Lookup implements pmi.Upstream.
func (u *upstream) Lookup(service string) (string, error) {
	return u.ask(channel.Name{Op: "lookup", Service: []byte(service)})
}

// Unpublish implements pmi.Upstream.
func (u *upstream) Unpublish(service string) error {
	_, err := u.ask(channel.Name{Op: "unpublish", Service: []byte(service)})
	return err
}

func (u *upstream) ask(request channel.Name) (string, error) {
	reply := make(chan channel.Name, 1)
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return "", pmi.ErrClosed
	}
	u.lastID++
	request.ID = u.lastID
	u.names[request.ID] = reply
	u.mu.Unlock()
	u.conn.SendValue(channel.NameRequest, request)
	answer, ok := <-reply
	if !ok {
		return "", pmi.ErrClosed
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return string(answer.Port), nil
}

func (u *upstream) nameReply(frame channel.Frame) {
	var answer channel.Name
	if frame.Value(&answer) != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if reply := u.names[answer.ID]; reply != nil {
		reply <- answer
		delete(u.names, answer.ID)
	}
}

// close fails what waits for an answer, and every later request.
func (u *upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.barrier != nil {
		close(u.barrier)
		u.barrier = nil
	}
	for id, reply := range u.names {
		close(reply)
		delete(u.names, id)
	}
}
