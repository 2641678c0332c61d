// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package greet

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	// Limit is how long a greeting may take.
	Limit = 5 * time.Second
	// MaxStrangers is how many connections may be open that have not proved themselves.
	MaxStrangers = 64

	pause = 10 * time.Millisecond
)

// Listen listens at an address of this host. The port may be 0.
func Listen(address string) (*net.TCPListener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	return net.ListenTCP("tcp", a)
}

// Serve takes connections until open is done, and has each answered in a goroutine of busy. A connection has one of the
// places until its answer returns.
//
// Preconditions: whoever ends open closes the listener then.
func Serve(open context.Context, listener *net.TCPListener, places chan struct{}, busy *sync.WaitGroup, answer func(*net.TCPConn)) {
	for {
		conn, err := listener.AcceptTCP()
		if open.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil {
			time.Sleep(pause) // there may be descriptors later
			continue
		}
		select {
		case places <- struct{}{}:
			busy.Go(func() {
				answer(conn)
				<-places
			})
		default:
			conn.Close() // whoever is in earnest dials again
		}
	}
}

// Within has a connection end with open, and in time. Call stop when the greeting is over.
func Within(open context.Context, conn net.Conn, limit time.Duration) (stop func() bool) {
	_ = conn.SetDeadline(time.Now().Add(limit))
	return context.AfterFunc(open, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
