// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"io"
)

var errSingleton = errors.New("it does not ask for PMI-1")

// Singleton begins the session of a process that was started alone and now wants a server. serve then runs the session of
// rank 0 as Serve does; after an error the caller closes conn.
func (s *Server) Singleton(conn io.ReadWriteCloser) (serve func(), err error) {
	peer := s.newSession(0, 0, conn)
	if err := peer.reply("cmd=singinit authtype=none"); err != nil {
		return nil, err
	}
	text, err := peer.lines.next()
	if err != nil {
		return nil, err
	}
	peer.trace(false, text)
	m, err := Parse(text)
	if err != nil || m.Command != "singinit" || m.Get("pmi_version") != "1" {
		return nil, errSingleton
	}
	return peer.run, peer.reply(fmt.Sprintf("cmd=singinit_info versionok=yes stdio=no kvsname=%s", s.world.KVSName))
}
