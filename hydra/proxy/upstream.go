// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/wire"
	"github.com/tpsl/tpsl/pmi"
)

// An upstream takes barriers and requests to mpiexec. It implements pmi.Upstream and pmix.Upstream.
type upstream struct {
	conn    *channel.Conn
	entered pmi.Entered // barriers that ranks of other hosts have not reached

	mu     sync.Mutex
	asked  map[int]chan channel.Frame // by the index of the request
	lastID int
	closed bool
}

func newUpstream(conn *channel.Conn) *upstream {
	return &upstream{conn: conn, asked: map[int]chan channel.Frame{}}
}

// Enter implements pmi.Exchanger. The ranks of a host enter a barrier together, so each is entered once at a time.
func (u *upstream) Enter(a pmi.Arrival, leave pmi.Leave) {
	if u.entered.Add(a.Barrier, leave) {
		u.conn.Send(channel.BarrierIn, 0, a.Append(nil))
	}
}

// barrierOut lets the ranks leave a barrier. It does so on a goroutine: a rank that does not read must not hold up the channel.
func (u *upstream) barrierOut(body []byte) { go u.entered.Left(body)() }

// Publish implements pmi.Upstream.
func (u *upstream) Publish(service, port string) error {
	_, err := u.AskName(channel.Name{Op: "publish", Service: service, Port: port})
	return err
}

// Lookup implements pmi.Upstream. A value that a client of PMIx has published is not for clients of PMI if it is not text.
func (u *upstream) Lookup(service string) (string, error) {
	port, err := u.AskName(channel.Name{Op: "lookup", Service: service})
	if err == nil && strings.HasPrefix(port, "\x00") {
		return "", pmi.ErrNotPublished
	}
	return port, err
}

// Unpublish implements pmi.Upstream.
func (u *upstream) Unpublish(service string) error {
	_, err := u.AskName(channel.Name{Op: "unpublish", Service: service})
	return err
}

// Spawn implements pmi.Upstream.
func (u *upstream) Spawn(request pmi.SpawnRequest) (reply pmi.SpawnReply) {
	if err := u.AskValue(channel.SpawnRequest, request, &reply); err != nil {
		return pmi.SpawnReply{Error: err.Error()}
	}
	return reply
}

// AskName implements pmix.Upstream.
func (u *upstream) AskName(request channel.Name) (string, error) {
	var answer channel.Name
	if err := u.AskValue(channel.NameRequest, request, &answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.Port, nil
}

// AskValue implements pmix.Upstream.
func (u *upstream) AskValue(kind channel.Kind, request, answer any) error {
	frame, err := u.Ask(kind, wire.Encode(request))
	if err != nil {
		return err
	}
	return frame.Value(answer)
}

// Ask implements pmix.Upstream.
func (u *upstream) Ask(kind channel.Kind, body []byte) (channel.Frame, error) {
	answered := make(chan channel.Frame, 1)
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return channel.Frame{}, pmi.ErrClosed
	}
	u.lastID++
	id := u.lastID
	u.asked[id] = answered
	u.mu.Unlock()
	u.conn.Send(kind, id, body)
	frame, ok := <-answered
	if !ok {
		return channel.Frame{}, pmi.ErrClosed
	}
	return frame, nil
}

func (u *upstream) answer(frame channel.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if answered := u.asked[frame.Index]; answered != nil {
		answered <- frame
		delete(u.asked, frame.Index)
	}
}

// close fails the requests that wait for an answer, and all later ones.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	for id, answered := range u.asked {
		close(answered)
		delete(u.asked, id)
	}
	u.mu.Unlock()
	u.entered.Close()
}
