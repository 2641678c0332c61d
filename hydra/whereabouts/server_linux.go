// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a peer may take to read the answer.
const patience = 5 * time.Second

// name returns the socket's name for a process of mpiexec.
func name(pid int) string { return fmt.Sprintf("@tpsl/mpiexec/%d", pid) }

// Serve answers who asks, one after the other, until it is closed.
func Serve(answer func() string) (*net.UnixListener, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: name(os.Getpid()), Net: "unix"})
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.AcceptUnix()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				serveOne(conn, answer)
			}
		}
	}()
	return listener, nil
}

func serveOne(conn *net.UnixConn, answer func() string) {
	defer conn.Close()
	peer, err := peerOf(conn)
	if err != nil || peer.Uid != 0 && peer.Uid != uint32(os.Getuid()) {
		return
	}
	text := answer()
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	_, _ = conn.Write([]byte(text)) // who has left does not want it
}

func peerOf(conn *net.UnixConn) (peer *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	err = errors.Join(raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}), err)
	return peer, err
}
