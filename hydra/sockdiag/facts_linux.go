// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package sockdiag

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Owner returns the user of a TCP socket, given by its own address and its peer's.
func Owner(local, remote netip.AddrPort) (uid int, err error) {
	reply, err := ask(local, remote, 0)
	if err != nil {
		return 0, err
	}
	return owner(reply), nil
}

func owner(reply []byte) int { return int(binary.NativeEndian.Uint32(reply[diagReply-8:])) }

// Unheard returns for how long the peer's host has not acknowledged what a TCP socket has sent. It is 0 if nothing waits for an
// acknowledgement. The kernel of that host answers even when the peer itself is stopped, so this shows the state of the host and of
// the network.
func Unheard(local, remote netip.AddrPort) (time.Duration, error) {
	reply, err := ask(local, remote, 1<<(tcpInfo-1))
	if err != nil {
		return 0, err
	}
	return unheard(reply), nil
}

// unheard reads struct inet_diag_msg and, in an attribute behind it, struct tcp_info (linux/inet_diag.h, linux/tcp.h). Data
// that waits for room at the peer's is probed for; the peer answers each probe.
func unheard(reply []byte) time.Duration {
	const (
		queued                  = 60 // idiag_wqueue: bytes that nobody has confirmed
		retransmits, probes     = 2, 3
		lastAck                 = 56 // tcpi_last_ack_recv, milliseconds
		attribute, tries, least = 4, 2, 60
	)
	native := binary.NativeEndian
	waiting := native.Uint32(reply[queued:]) > 0
	for rest := reply[diagReply:]; len(rest) >= attribute; {
		size := int(native.Uint16(rest))
		if size < attribute || size > len(rest) {
			break
		}
		if info := rest[attribute:size]; native.Uint16(rest[2:]) == tcpInfo && len(info) >= least {
			if waiting && max(info[retransmits], info[probes]) >= tries {
				return time.Duration(native.Uint32(info[lastAck:])) * time.Millisecond
			}
			return 0
		}
		rest = rest[min(len(rest), (size+3)&^3):]
	}
	return 0
}
