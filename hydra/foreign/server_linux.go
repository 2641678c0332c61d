// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/pmi"
)

// patience is how long a launcher may take to answer.
const patience = 10 * time.Second

// serverOf names the process at the other end of a session. All ranks of the job on this host have the same one, and no other
// ranks have it. To ask over the session instead would start the session, and then Hydra would take an end without MPI_Finalize
// for a crash.
func serverOf(fd int) (string, error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return "", fmt.Errorf("PMI_FD=%d is not a launcher's socket (%w); unset PMI_FD to start without one", fd, err)
	}
	if peer.Pid == 0 {
		return "", fmt.Errorf("PMI_FD=%d leads out of this PID namespace, so ranks of one job cannot be told; use -rpp 1", fd)
	}
	return fmt.Sprintf("process %d born %s", peer.Pid, procs.Birth(int(peer.Pid))), nil
}

// connected returns a member that connects to the launcher's port itself. After that its session is like any other.
func connected(getenv func(string) string) (*Member, error) {
	port, id := getenv("PMI_PORT"), getenv("PMI_ID")
	if strings.Contains(id, ",") {
		return nil, fmt.Errorf("PMI_ID=%s is a rank set already; leave tpsl run or the launcher's -rpp out", id)
	}
	m := &Member{Rank: -1, server: "port " + port}
	conn, err := net.DialTimeout("tcp", port, patience)
	if err != nil {
		return nil, fmt.Errorf("rank %s: connect to PMI_PORT: %w", id, err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // a socket takes deadlines
	if err := m.introduce(conn, id); err != nil {
		return nil, fmt.Errorf("rank %s: PMI_PORT=%s: %w", id, port, err)
	}
	if m.session, err = keep(conn.(*net.TCPConn)); err != nil {
		return nil, fmt.Errorf("rank %s: keep the connection to PMI_PORT: %w", id, err)
	}
	return m, m.locate(getenv)
}

// keep returns a descriptor of the connection that blocks on reads, as MPI libraries expect.
func keep(conn *net.TCPConn) (int, error) {
	file, err := conn.File()
	if err != nil {
		return -1, err
	}
	defer file.Close()
	return unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3) // Fd makes it blocking
}

// introduce says which rank connects. The reply is lines of "cmd=set", of which debug= is the last.
func (m *Member) introduce(conn net.Conn, id string) error {
	if _, err := fmt.Fprintf(conn, "cmd=initack pmiid=%s\n", id); err != nil {
		return err
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		reply, err := pmi.Parse(lines.Text())
		if err != nil || reply.Command != "set" {
			continue
		}
		if size, found := reply.Lookup("size"); found {
			m.Size, err = strconv.Atoi(size)
		} else if rank, found := reply.Lookup("rank"); found {
			m.Rank, err = strconv.Atoi(rank)
		} else if _, found := reply.Lookup("debug"); found && m.Rank >= 0 && m.Size > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), errors.New("the launcher did not tell rank and size"))
}
