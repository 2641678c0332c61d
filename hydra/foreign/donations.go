// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"net"
	"time"
)

const (
	// donationLimit is how long a peer may take to make its donation. A donor does at once.
	donationLimit = 5 * time.Second
	// maxSilent bounds the peers of this user that have not made theirs. Further ones wait.
	maxSilent = 256
)

// Donations come over a listener, from this user's processes only. One that connects and says nothing holds up nobody else.
type donations struct {
	listener *net.UnixListener
	parts    chan *part
	over     chan error    // why the listener has ended
	closed   chan struct{} // nobody takes parts any more
}

func acceptDonations(listener *net.UnixListener) *donations {
	d := &donations{listener: listener, parts: make(chan *part), over: make(chan error, 1), closed: make(chan struct{})}
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

// close lets go of what nobody took. Peers that have said nothing yet go when their time is over.
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

// receive takes a donation. Who dies or is silent in place of it is dropped; the leader's deadline tells who is missing.
func (d *donations) receive(conn *net.UnixConn) {
	_ = conn.SetReadDeadline(time.Now().Add(donationLimit)) // a socket takes deadlines
	gift, fds, err := receiveDonation(conn)
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
