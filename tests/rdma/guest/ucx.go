// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"regexp"
	"strconv"
)

// UCX returns settings without which UCX does not talk well over the devices of guests, and those given. They are for any UCX_TLS.
// A GID of the first kind is the one that soft-RoCE's datagrams carry. Its connections stand still at times until an answer is
// overdue, a second by default.
func UCX(more ...string) []string {
	return append([]string{"UCX_IB_GID_INDEX=0", "UCX_RC_TIMEOUT=100ms"}, more...)
}

// Connection is what UCX tells, with UCX_LOG_LEVEL=info, of how a rank talks to a kind of peers.
type Connection struct {
	Number int      // among those of the rank, from 0
	Lanes  []string // TRANSPORT/DEVICE, as often as it is used for something
}

// UCX 1.13 prints "ep_cfg[N]: USE(TRANSPORT/DEVICE ...) ...".
var (
	connection = regexp.MustCompile(`UCX +INFO +ep_cfg\[(\d+)\]: (.*)`)
	lane       = regexp.MustCompile(`\w+/[\w:]+`)
)

// Connections finds the connections in what UCX said, those of all ranks.
func Connections(said string) (all []Connection) {
	for _, line := range connection.FindAllStringSubmatch(said, -1) {
		number, _ := strconv.Atoi(line[1])
		all = append(all, Connection{number, lane.FindAllString(line[2], -1)})
	}
	return all
}
