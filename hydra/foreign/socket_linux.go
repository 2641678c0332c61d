// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/hydra/wire"
	"github.com/tpsl/tpsl/internal/topology"
)

const (
	// network is a kind of socket that keeps message boundaries.
	network = "unixpacket"
	// pause is how long a donor waits at first before it looks again for its leader. The pause grows up to longest.
	pause   = 10 * time.Millisecond
	longest = 160 * time.Millisecond
	// maxMessage is the size of a buffer for any message, in bytes.
	maxMessage = 16 << 10
)

// A donation is what a donor tells about itself. The descriptors that Member.descriptors lists come with it.
type donation struct {
	Rank, Local int
	Digest      [sha256.Size]byte
	Command     string
	CPUs        topology.Set // that the launcher lets it run on
	Env         []string     // settings of its own
}

// donation describes the member itself.
func (m *Member) donation(r Request) (donation, error) {
	cpus, err := hardware.AllowedCPUs()
	return donation{Rank: m.Rank, Local: m.local, Digest: r.digest(), Command: r.command(), CPUs: cpus, Env: settingsOf(r.Environ)}, err
}

// descriptors lists what the launcher has given the member: stdin, stdout, stderr, and the PMI session if it has one.
func (m *Member) descriptors() []int {
	if m.servedByPMIx() {
		return []int{0, 1, 2}
	}
	return []int{0, 1, 2, m.session}
}

// prefix is the beginning of the name of the socket of the member's set. Any process can compute it. So the rest of the name is
// text that nobody can know in advance.
func (m *Member) prefix(k int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s user %d place %d", m.server, os.Getuid(), m.first(k)))
	return fmt.Sprintf("@tpsl-set-%x-", sum[:16])
}

func (m *Member) listen(k int) (*net.UnixListener, error) {
	return net.ListenUnix(network, &net.UnixAddr{Net: network, Name: m.prefix(k) + rand.Text()})
}

// addresses lists the sockets that listen at names of the member's set, as the kernel has them (proc_pid_net(5)): "NUM:
// REFCOUNT PROTOCOL FLAGS TYPE ST INODE NAME".
func (m *Member) addresses(k int) (list []*net.UnixAddr, err error) {
	const flags, name, listens = 3, 7, "00010000"
	table, err := os.ReadFile("/proc/self/net/unix")
	if err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	prefix := m.prefix(k)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > name && f[flags] == listens && strings.HasPrefix(f[name], prefix) {
			list = append(list, &net.UnixAddr{Net: network, Name: f[name]})
		}
	}
	return list, nil
}

// dial connects to the leader, if it listens already. A listener of another user is never the leader, whatever its name is.
func (m *Member) dial(k int) (*net.UnixConn, error) {
	addresses, err := m.addresses(k)
	for _, address := range addresses {
		conn, err := net.DialUnix(network, nil, address)
		if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EAGAIN) {
			continue // the leader is gone, or many wait to connect; the caller tries again
		}
		if err != nil {
			return nil, err
		}
		if ofThisUser(conn) {
			return conn, nil
		}
		conn.Close()
	}
	return nil, err
}

// ofThisUser asks the kernel whether a process of this user made the other end (unix(7)).
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

// send sends a donation with its descriptors.
func (d donation) send(conn *net.UnixConn, fds ...int) error {
	_, _, err := conn.WriteMsgUnix(wire.Encode(d), unix.UnixRights(fds...), nil)
	return err
}

// receiveDonation reads what send wrote, with the given number of descriptors. They are close-on-exec.
func receiveDonation(conn *net.UnixConn, given int) (d donation, fds []int, err error) {
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
