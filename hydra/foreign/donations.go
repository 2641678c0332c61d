// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"net"
	"time"
)

const (
	// donationLimit is how long a peer may take to make its donation. A donor sends it immediately.
	donationLimit = 5 * time.Second
	// maxSilent is how many peers of this user may be connected that have not made their donation. Further peers wait.
	maxSilent = 256
)

// Donations are what donors give over a listener. Only processes of this user may give one. A process that connects and sends
// nothing does not delay the others.
type donations struct {
	listener *net.UnixListener
	given    int // the number of descriptors of each donation
	parts    chan *part
	over     chan error    // why the listener has ended
	closed   chan struct{} // closed when no more parts are taken
}

// acceptDonations takes donations that have the given number of descriptors.
func acceptDonations(listener *net.UnixListener, given int) *donations {
	d := &donations{listener: listener, given: given, parts: make(chan *part), over: make(chan error, 1), closed: make(chan struct{})}
	go d.accept()
	return d
}

// next waits for a donation.
func (d *donations) next() (*part, error) {
	select {
	case p := <-d.parts:
		return p, nil
	case err := <-d.over:
		return nil, err
	}
}

// close drops the donations that were not taken. Peers that have sent nothing yet are dropped when their time is over.
func (d *donations) close() {
	close(d.closed)
	d.listener.Close()
}

func (d *donations) accept() {
	silent := make(chan struct{}, maxSilent)
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			d.over <- err
			return
		}
		if !ofThisUser(conn) {
			conn.Close()
			continue
		}
		select {
		case silent <- struct{}{}:
		case <-d.closed:
			conn.Close()
			return
		}
		go func() {
			d.receive(conn)
			<-silent
		}()
	}
}

// receive takes a donation. A peer that dies or stays silent is dropped; the leader's deadline shows who is missing.
func (d *donations) receive(conn *net.UnixConn) {
	_ = conn.SetReadDeadline(time.Now().Add(donationLimit)) // no error, because sockets support deadlines
	gift, fds, err := receiveDonation(conn, d.given)
	if err != nil {
		conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	p := &part{donation: gift, fds: fds, conn: conn}
	select {
	case d.parts <- p:
	case <-d.closed:
		p.drop()
	}
}
