// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// A programError is of one program of the plan, by its index.
type programError struct {
	program int
	error
}

func (e programError) Unwrap() error { return e.error }

// Spawn implements pmi.Upstream.
func (u *upstream) Spawn(request pmi.SpawnRequest) (reply pmi.SpawnReply) {
	if err := u.askValue(channel.SpawnRequest, request, &reply); err != nil {
		return pmi.SpawnReply{Error: err.Error()}
	}
	return reply
}
