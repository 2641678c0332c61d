// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/proxy"
	"github.com/tpsl/tpsl/hydra/wire"
	"github.com/tpsl/tpsl/internal/topology"
)

const (
	// names is how many names a set's socket may have: others than the first serve when another user has taken that.
	names = 8
	// pause is how long a donor waits before it looks again for its leader.
	pause = 20 * time.Millisecond
	// given is how many descriptors a donation has.
	given = 4
	// maxMessage is more than any message takes.
	maxMessage = 16 << 10
)

// A donation is what a donor says of itself. With it come the descriptors of its session, stdin, stdout and stderr.
type donation struct {
	Rank, Place int
	Digest      [sha256.Size]byte
	Command     string
	CPUs        topology.Set // that the launcher lets it run on
	Env         []string     // settings of its own
}

// donation describes the member itself.
func (m *Member) donation(r Request) (donation, error) {
	cpus, err := proxy.AllowedCPUs()
	return donation{Rank: m.Rank, Place: m.place, Digest: r.digest(), Command: r.command(), CPUs: cpus, Env: settingsOf(r.Environ)}, err
}

// addresses lists the addresses at which the leader of the member's set may be.
func (m *Member) addresses(k int) (list []*net.UnixAddr) {
	for attempt := range names {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s user %d place %d name %d", m.server, os.Getuid(), m.first(k), attempt))
		list = append(list, &net.UnixAddr{Net: "unixpacket", Name: fmt.Sprintf("@tpsl-set-%x", sum[:16])})
	}
	return list
}

// listen takes the first of the set's names that is free.
func (m *Member) listen(k int) (listener *net.UnixListener, err error) {
	for _, address := range m.addresses(k) {
		if listener, err = net.ListenUnix(address.Net, address); !errors.Is(err, unix.EADDRINUSE) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("other processes have taken all names of the set's socket: %w", err)
}

// dial connects to the leader, if it listens already. A listener of another user is not it.
func (m *Member) dial(k int) (*net.UnixConn, error) {
	for _, address := range m.addresses(k) {
		conn, err := net.DialUnix(address.Net, nil, address)
		if errors.Is(err, unix.ECONNREFUSED) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if ofThisUser(conn) {
			return conn, nil
		}
		conn.Close()
	}
	return nil, nil
}

// ofThisUser asks the kernel who made the other end (unix(7)).
func ofThisUser(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && int(peer.Uid) == os.Getuid()
	})
	return err == nil && same
}

// send gives a donation with its descriptors.
func (d donation) send(conn *net.UnixConn, fds ...int) error {
	_, _, err := conn.WriteMsgUnix(wire.Encode(d), unix.UnixRights(fds...), nil)
	return err
}

// receiveDonation reads what send wrote. The descriptors are close-on-exec.
func receiveDonation(conn *net.UnixConn) (d donation, fds []int, err error) {
	message, control := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(given*4))
	n, nc, _, _, err := conn.ReadMsgUnix(message, control)
	if err != nil {
		return d, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:nc])
	for _, m := range messages {
		if rights, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, rights...)
		}
	}
	if err == nil {
		err = wire.Decode(message[:n], &d)
	}
	if err == nil && len(fds) != given {
		err = fmt.Errorf("%d descriptors in place of %d", len(fds), given)
	}
	if err != nil {
		closeAll(fds)
	}
	return d, fds, err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
