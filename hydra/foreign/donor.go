// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
)

// failed is the reply of a leader that cannot run the set.
const failed = "failed"

// ErrSaid means that the leader has told what is wrong.
var ErrSaid = errors.New("the set's leader has told what is wrong")

// donate gives the leader what the launcher has given this process, and waits for the end of the rank.
func (m *Member) donate(r Request) (unix.WaitStatus, error) {
	conn, err := m.findLeader(r)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	d, err := m.donation(r)
	if err != nil {
		return 0, err
	}
	if err := d.send(conn, m.session, 0, 1, 2); err != nil {
		return 0, leaderDied(err)
	}
	go passSignals(conn)
	if err := m.release(); err != nil {
		return 0, err
	}
	return m.await(conn)
}

func (m *Member) findLeader(r Request) (*net.UnixConn, error) {
	for deadline := time.Now().Add(r.Wait); time.Now().Before(deadline); time.Sleep(pause) {
		if conn, err := m.dial(r.PerProcess); conn != nil || err != nil {
			return conn, err
		}
	}
	return nil, fmt.Errorf("the first of its %d ranks on this host, which is to lead them, has not come for %v; "+
		"start all ranks with the same tpsl run -rpp %d", r.PerProcess, r.Wait, r.PerProcess)
}

// release lets go of the standard streams that the rank has now. The session stays: the launcher, which takes its end for
// the rank's, is to see that when this process ends as the rank did.
func (m *Member) release() error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer unix.Close(null)
	for fd := range 2 {
		if err := unix.Dup2(null, fd); err != nil {
			return fmt.Errorf("replace descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// passSignals sends what this process is told by signals to the leader, a byte each.
func passSignals(conn *net.UnixConn) {
	for sig := range hydra.CatchSignals() {
		if _, err := conn.Write([]byte{byte(sig.(unix.Signal))}); err != nil {
			return // the leader is gone, and so will be this process
		}
	}
}

// await reads how the rank ended.
func (m *Member) await(conn *net.UnixConn) (unix.WaitStatus, error) {
	reply := make([]byte, maxMessage)
	n, err := conn.Read(reply)
	if err != nil {
		return 0, leaderDied(err)
	}
	var status uint32
	if string(reply[:n]) == failed {
		return 0, ErrSaid
	} else if _, err := fmt.Sscanf(string(reply[:n]), "status=%d", &status); err != nil {
		return 0, fmt.Errorf("read the leader's reply %q: %w", reply[:n], err)
	}
	return unix.WaitStatus(status), nil
}

func leaderDied(err error) error {
	return fmt.Errorf("the process that leads its set has died (%w), and with it the set's ranks", err)
}
