// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Sizes and numbers of sock_diag(7) and netlink(7).
const (
	byFamily      = 20
	netlinkHeader = 16
	diagRequest   = 56
	diagReply     = 72
	noCookie      = ^uint64(0)
	tcpInfo       = 2 // INET_DIAG_INFO
)

// ErrNoSocket means that there is no such socket, or that it is closed.
var ErrNoSocket = errors.New("no such socket")

// ask returns the kernel's answer about the socket with these two addresses. Each bit of extra asks for one attribute, which
// follows the answer.
func ask(local, remote netip.AddrPort, extra byte) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	limit := unix.Timeval{Sec: 5}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, request(local, remote, extra), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil {
		return nil, err
	}
	return check(reply[:n])
}

func request(local, remote netip.AddrPort, extra byte) []byte {
	native, network := binary.NativeEndian, binary.BigEndian
	b := make([]byte, 0, netlinkHeader+diagRequest)
	b = native.AppendUint32(b, netlinkHeader+diagRequest)
	b = native.AppendUint16(b, byFamily)
	b = native.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // sequence, port
	family := byte(unix.AF_INET6)
	if local.Addr().Unmap().Is4() {
		family = unix.AF_INET
	}
	b = append(b, family, unix.IPPROTO_TCP, extra, 0)
	b = native.AppendUint32(b, ^uint32(0)) // in any state
	b = network.AppendUint16(b, local.Port())
	b = network.AppendUint16(b, remote.Port())
	for _, end := range []netip.AddrPort{local, remote} {
		address := end.Addr().Unmap().AsSlice()
		b = append(append(b, address...), make([]byte, 16-len(address))...)
	}
	b = append(b, make([]byte, 4)...) // interface
	return native.AppendUint64(b, noCookie)
}

// check returns the answer without netlink's header. If the socket has no inode, it has been closed, and check returns ErrNoSocket.
func check(b []byte) ([]byte, error) {
	native := binary.NativeEndian
	if len(b) >= netlinkHeader+4 && native.Uint16(b[4:]) == unix.NLMSG_ERROR {
		if errno := unix.Errno(-int32(native.Uint32(b[netlinkHeader:]))); errno != unix.ENOENT {
			return nil, fmt.Errorf("ask for a socket: %w", errno)
		}
		return nil, ErrNoSocket
	}
	if len(b) < netlinkHeader+diagReply || native.Uint16(b[4:]) != byFamily {
		return nil, ErrNoSocket
	}
	if b = b[netlinkHeader:]; native.Uint32(b[diagReply-4:]) == 0 {
		return nil, ErrNoSocket
	}
	return b, nil
}
