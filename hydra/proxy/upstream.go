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
	conn    *channel.Conn
	entered pmi.Entered // barriers that not all other hosts have reached

	mu     sync.Mutex
	names  map[int]chan channel.Name
	spawns map[int]chan pmi.SpawnReply
	lastID int
	closed bool
}

func newUpstream(conn *channel.Conn) *upstream {
	return &upstream{conn: conn, names: map[int]chan channel.Name{}, spawns: map[int]chan pmi.SpawnReply{}}
}

// Enter implements pmi.Exchanger. The ranks of a host enter a barrier together, so each is entered once at a time.
func (u *upstream) Enter(a pmi.Arrival, leave pmi.Leave) {
	if u.entered.Add(a.Barrier, leave) {
		u.conn.Send(channel.BarrierIn, 0, a.Append(nil))
	}
}

// barrierOut lets the ranks go on a goroutine: one that does not read must not hold up the channel.
func (u *upstream) barrierOut(body []byte) { go u.entered.Left(body)() }

// Publish implements pmi.Upstream.
func (u *upstream) Publish(service, port string) error {
	_, err := u.ask(channel.Name{Op: "publish", Service: service, Port: port})
	return err
}

// Lookup implements pmi.Upstream.
func (u *upstream) Lookup(service string) (string, error) {
	return u.ask(channel.Name{Op: "lookup", Service: service})
}

// Unpublish implements pmi.Upstream.
func (u *upstream) Unpublish(service string) error {
	_, err := u.ask(channel.Name{Op: "unpublish", Service: service})
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
	return answer.Port, nil
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
	u.closed = true
	for id, reply := range u.names {
		close(reply)
		delete(u.names, id)
	}
	for id, reply := range u.spawns {
		close(reply)
		delete(u.spawns, id)
	}
	u.mu.Unlock()
	u.entered.Close()
}
