// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Sizes and numbers of sock_diag(7) and netlink(7). /proc/net/tcp says the same, but the kernel walks its whole table for each
// reading of it.
const (
	sockDiagByFamily = 20
	netlinkHeader    = 16
	diagRequest      = 56
	diagReply        = 72
	noCookie         = ^uint64(0)
)

var errNoSocket = errors.New("no such socket")

// socketOwner asks the kernel for the user of a TCP socket of this host, by its own address and its peer's.
func socketOwner(local, remote netip.AddrPort) (uid int, err error) {
	reply, err := askDiag(ownerRequest(local, remote))
	if err != nil {
		return 0, fmt.Errorf("ask for the owner of a socket: %w", err)
	}
	return parseOwner(reply)
}

func ownerRequest(local, remote netip.AddrPort) []byte {
	own, peer := local.Addr().Unmap().As4(), remote.Addr().Unmap().As4()
	native, network := binary.NativeEndian, binary.BigEndian
	b := make([]byte, 0, netlinkHeader+diagRequest)
	b = native.AppendUint32(b, netlinkHeader+diagRequest)
	b = native.AppendUint16(b, sockDiagByFamily)
	b = native.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // sequence, port
	b = append(b, unix.AF_INET, unix.IPPROTO_TCP, 0, 0)
	b = native.AppendUint32(b, ^uint32(0)) // in any state
	b = network.AppendUint16(b, local.Port())
	b = network.AppendUint16(b, remote.Port())
	b = append(append(b, own[:]...), make([]byte, 12)...)
	b = append(append(b, peer[:]...), make([]byte, 12)...)
	b = append(b, make([]byte, 4)...) // interface
	return native.AppendUint64(b, noCookie)
}

func askDiag(request []byte) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	limit := unix.Timeval{Sec: 5}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil {
		return nil, err
	}
	return reply[:n], nil
}

// parseOwner reads the kernel's answer. A socket without an inode has been closed; the kernel then says root's.
func parseOwner(b []byte) (uid int, err error) {
	native := binary.NativeEndian
	if len(b) >= netlinkHeader+4 && native.Uint16(b[4:]) == unix.NLMSG_ERROR {
		if errno := unix.Errno(-int32(native.Uint32(b[netlinkHeader:]))); errno != unix.ENOENT {
			return 0, fmt.Errorf("ask for the owner of a socket: %w", errno)
		}
		return 0, errNoSocket
	}
	if len(b) < netlinkHeader+diagReply || native.Uint16(b[4:]) != sockDiagByFamily {
		return 0, errNoSocket
	}
	tail := b[netlinkHeader+diagReply-8:]
	if inode := native.Uint32(tail[4:]); inode == 0 {
		return 0, errNoSocket
	}
	return int(native.Uint32(tail)), nil
}
