// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A part is what one member has given to its set. Parts are in the order of the members' indices.
type part struct {
	donation
	fds  []int         // as Member.descriptors lists them
	conn *net.UnixConn // to the donor; nil for the leader's own part
}

// gather collects the parts of the member's set. The member's own part is the first. If there is an error, gather also returns the
// parts that have arrived.
func (m *Member) gather(r Request) ([]*part, error) {
	own, err := m.donation(r)
	if err != nil {
		return nil, err
	}
	first := m.first(r.PerProcess)
	parts := make([]*part, m.last(r.PerProcess)-first+1)
	parts[0] = &part{donation: own, fds: m.descriptors()}
	if len(parts) == 1 {
		return parts, nil
	}
	listener, err := m.listen(r.PerProcess)
	if err != nil {
		return nil, err
	}
	_ = listener.SetDeadline(time.Now().Add(r.Wait)) // no error, because sockets support deadlines
	came := acceptDonations(listener, len(parts[0].fds))
	defer came.close()
	for missing := len(parts) - 1; missing > 0; missing-- {
		p, err := came.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return parts, m.incomplete(parts, r)
		} else if err != nil {
			return parts, err
		}
		slot := p.Local - first
		if slot < 1 || slot >= len(parts) || parts[slot] != nil {
			p.drop()
			return parts, fmt.Errorf("rank %d says that it is the host's rank number %d, which cannot be; start all ranks with the same tpsl run", p.Rank, p.Local)
		}
		parts[slot] = p
		if p.Digest != own.Digest {
			return parts, differ(parts[0], p)
		}
	}
	for _, p := range parts {
		p.tell(setReply + ranksOf(parts))
	}
	return parts, nil
}

func differ(a, b *part) error {
	return fmt.Errorf("ranks %d and %d would share a process, but one runs %s and the other %s; "+
		"give each program a multiple of -rpp ranks per host", a.Rank, b.Rank, a.Command, b.Command)
}

// incomplete returns an error about the members that have not arrived. It names them by their index on this host, because their
// ranks are not known.
func (m *Member) incomplete(parts []*part, r Request) error {
	var missing []string
	for slot, p := range parts {
		if p == nil {
			missing = append(missing, strconv.Itoa(m.local+slot))
		}
	}
	return fmt.Errorf("of the %d ranks of this host, counted from 0, number %s has not come for %v; start all ranks with the same tpsl run -rpp %d",
		m.localRanks, strings.Join(missing, ","), r.Wait, r.PerProcess)
}

// drop closes the descriptors of a part. It leaves those of the leader's own part open.
func (p *part) drop() {
	if p.conn != nil {
		closeAll(p.fds)
		p.conn.Close()
	}
}

// tell sends a reply to the donor.
func (p *part) tell(reply string) {
	if p.conn != nil {
		_, _ = p.conn.Write([]byte(reply)) // a donor that has ended needs no reply
	}
}

// awaitEnd waits until the donor has ended.
func (p *part) awaitEnd(over context.Context) {
	if p.conn == nil {
		return
	}
	limit, _ := over.Deadline()
	_ = p.conn.SetReadDeadline(limit) // a socket takes deadlines
	_, _ = io.Copy(io.Discard, p.conn)
}

func (p *part) tellStatus(status unix.WaitStatus) { p.tell(fmt.Sprintf(statusReply, uint32(status))) }

// ranksOf lists the ranks of a set. The leader's rank is the first.
func ranksOf(parts []*part) string {
	var ranks []string
	for _, p := range parts {
		ranks = append(ranks, strconv.Itoa(p.Rank))
	}
	return strings.Join(ranks, ",")
}
