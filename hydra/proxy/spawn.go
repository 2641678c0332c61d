// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/wire"
	"github.com/tpsl/tpsl/pmi"
)

// A programError is of one program of the plan, by its index.
type programError struct {
	program int
	error
}

func (e programError) Unwrap() error { return e.error }

// Spawn implements pmi.Upstream.
func (u *upstream) Spawn(request pmi.SpawnRequest) pmi.SpawnReply {
	reply := make(chan pmi.SpawnReply, 1)
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return pmi.SpawnReply{Error: pmi.ErrClosed.Error()}
	}
	u.lastID++
	id := u.lastID
	u.spawns[id] = reply
	u.mu.Unlock()
	u.conn.Send(channel.SpawnRequest, id, wire.Encode(request))
	answer, ok := <-reply
	if !ok {
		return pmi.SpawnReply{Error: pmi.ErrClosed.Error()}
	}
	return answer
}

func (u *upstream) spawnReply(frame channel.Frame) {
	var answer pmi.SpawnReply
	if err := frame.Value(&answer); err != nil {
		answer.Error = err.Error()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if reply := u.spawns[frame.Index]; reply != nil {
		reply <- answer
		delete(u.spawns, frame.Index)
	}
}
