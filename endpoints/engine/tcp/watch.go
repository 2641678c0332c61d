// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import "golang.org/x/sys/unix"

// watched has a link's new socket watched for what comes. About says which of its sockets it is.
func (n *Node) watched(socket, link int, about int32) error {
	return unix.EpollCtl(n.epoll, unix.EPOLL_CTL_ADD, socket, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(link), Pad: about})
}

// interest has it watched for room to write too, or no more.
func (n *Node) interest(socket, link int, about int32, room bool) {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(link), Pad: about}
	if room {
		e.Events |= unix.EPOLLOUT
	}
	_ = unix.EpollCtl(n.epoll, unix.EPOLL_CTL_MOD, socket, &e)
}
