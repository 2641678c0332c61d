// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

// The replies of leaders: the ranks of the set, when all have arrived; how the rank ended; or that they cannot run the set.
const (
	setReply    = "set="
	statusReply = "status=%d"
	failed      = "failed"
)

// ErrSaid means that the leader has already reported the error.
var ErrSaid = errors.New("the set's leader has told what is wrong")

// donate gives the leader what the launcher has given this process, and waits for the end of the rank.
func (m *Member) donate(r Request) (unix.WaitStatus, error) {
	conn, err := m.findLeader(r)
	if err != nil {
		return 0, err
	}
	m.leader = conn // open until this process ends, as its end tells the leader that
	d, err := m.donation(r)
	if err != nil {
		return 0, err
	}
	signals := procs.CatchSignals(procs.AsRank) // the rank may run, and be signalled, at once
	if err := d.send(conn, m.descriptors()...); err != nil {
		return 0, leaderDied("")
	}
	go passSignals(signals, conn)
	if err := m.release(); err != nil {
		return 0, err
	}
	return m.await(conn)
}

func (m *Member) findLeader(r Request) (*net.UnixConn, error) {
	wait := pause
	for deadline := time.Now().Add(r.Wait); time.Now().Before(deadline); wait = min(2*wait, longest) {
		if conn, err := m.dial(r.PerProcess); conn != nil || err != nil {
			return conn, err
		}
		time.Sleep(wait)
	}
	return nil, fmt.Errorf("the first of its %d ranks on this host, which is to lead them, has not come for %v; "+
		"start all ranks with the same tpsl run -rpp %d", r.PerProcess, r.Wait, r.PerProcess)
}

// release closes stdin and stdout, which the rank has now. A PMI session stays open, because the launcher takes the end of the
// session for the end of the rank. It ends when this process ends as the rank did.
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

// passSignals sends the number of each signal that this process gets to the leader, in one byte.
func passSignals(signals <-chan os.Signal, conn *net.UnixConn) {
	for sig := range signals {
		if _, err := conn.Write([]byte{byte(sig.(unix.Signal))}); err != nil {
			return // the leader is gone, and this process will end too
		}
	}
}

// await reads who is in the set and how the rank ended.
func (m *Member) await(conn *net.UnixConn) (unix.WaitStatus, error) {
	reply, set, status := make([]byte, maxMessage), "", uint32(0)
	for {
		n, err := conn.Read(reply)
		text := string(reply[:n])
		switch {
		case err != nil && set != "":
			time.Sleep(procs.Broadcast) // a launcher that ends the job kills this process, too, and then there is nothing to tell
			return unix.WaitStatus(unix.SIGKILL), leaderDied(set)
		case err != nil:
			return 0, leaderDied("")
		case text == failed:
			return 0, ErrSaid
		case strings.HasPrefix(text, setReply):
			set = strings.TrimPrefix(text, setReply)
			continue
		}
		if _, err := fmt.Sscanf(text, statusReply, &status); err != nil {
			return 0, fmt.Errorf("read the leader's reply %q: %w", text, err)
		}
		return unix.WaitStatus(status), nil
	}
}

// leaderDied returns the error that the leader, which is the first rank of the set, has died. It names the ranks if the leader has
// sent them.
func leaderDied(set string) error {
	if set == "" {
		return errors.New("the first of its ranks on this host, which leads them, has died")
	}
	leader, _, _ := strings.Cut(set, ",")
	return fmt.Errorf("what the launcher started for rank %s was killed, and with it the process of ranks %s", leader, set)
}
