// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !verbs

package job

import (
	"errors"
	"net"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

var errWithout = errors.New("this program is built without verbs: build it with go build -tags verbs, or leave this out")

// canVerbs tells whether this program can send by RDMA.
func canVerbs() error { return errWithout }

func joinVerbs(*net.TCPListener, []rail, []card, tcp.Options) (carrier.Carrier, error) {
	return nil, errWithout
}
